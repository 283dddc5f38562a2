module github.com/zkwarp/zkwarp

go 1.26
