module github.com/polarquant/polarquant/bindings/go

go 1.19
