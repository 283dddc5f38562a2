package bitproof

// leastCommitted is the least number of variables of a committed table: 2^7 bits
// are one element of GF(2^128).
const leastCommitted = 7
