//go:build ignore

// Takes `omitted.json` from the Go types of the Kubernetes API: which fields of a definition are not written when they
// are empty. `go mod download` of k8s.io/{api,apimachinery,apiextensions-apiserver,kube-aggregator} first, then
//
//	go run omitted.go schemas.json "$(go env GOMODCACHE)" v0.36.3 > omitted.json
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// A type with the imports that its fields are named by.
type declared struct {
	expression ast.Expr
	imports    map[string]string
	in         string
}

type row struct {
	Omitted        []string `json:"omitted,omitempty"`
	Null           []string `json:"null,omitempty"`
	OmittedStructs []string `json:"omittedStructs,omitempty"`
}

var (
	types          = map[string]declared{}
	read           = map[string]bool{}
	cache, version string
)

// Reads the types of a package, once.
func readPackage(name string) {
	module, ours := strings.CutPrefix(name, "k8s.io/")
	if read[name] || !ours {
		return
	}
	read[name] = true
	module, inside, _ := strings.Cut(module, "/")
	files, _ := filepath.Glob(filepath.Join(cache, "k8s.io", module+"@"+version, inside, "*.go"))
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") || strings.Contains(path, "zz_generated") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			log.Fatal(err)
		}
		imports := map[string]string{}
		for _, imported := range file.Imports {
			path := strings.Trim(imported.Path.Value, `"`)
			name := filepath.Base(path)
			if imported.Name != nil {
				name = imported.Name.Name
			}
			imports[name] = path
		}
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					types[name+"."+spec.Name.Name] = declared{spec.Type, imports, name}
				}
			}
		}
	}
}

// What a type comes down to, and its name.
func shape(expression ast.Expr, from declared) (string, string) {
	named := func(name string) (string, string) {
		known, ok := types[name]
		if !ok {
			return "other", name
		}
		shape, _ := shape(known.expression, known)
		return shape, name
	}
	switch it := expression.(type) {
	case *ast.Ident:
		switch it.Name {
		case "string", "bool", "int", "int32", "int64", "uint8", "float64":
			return "scalar", ""
		}
		return named(from.in + "." + it.Name)
	case *ast.SelectorExpr:
		in := from.imports[it.X.(*ast.Ident).Name]
		readPackage(in)
		return named(in + "." + it.Sel.Name)
	case *ast.StarExpr:
		return "pointer", ""
	case *ast.ArrayType:
		if item, ok := it.Elt.(*ast.Ident); ok && item.Name == "byte" {
			return "scalar", ""
		}
		return "list", ""
	case *ast.MapType:
		return "map", ""
	case *ast.StructType:
		return "struct", ""
	}
	return "other", ""
}

func (r *row) fields(name string) {
	it := types[name]
	if alias, ok := it.expression.(*ast.Ident); ok {
		r.fields(it.in + "." + alias.Name)
	}
	fields, ok := it.expression.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range fields.Fields.List {
		tag := ""
		if field.Tag != nil {
			tag = reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
		}
		json, options, _ := strings.Cut(tag, ",")
		shape, of := shape(field.Type, it)
		empty, zero := strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")
		time := strings.HasSuffix(of, "/v1.Time") || strings.HasSuffix(of, "/v1.MicroTime")
		text := strings.HasSuffix(of, "Quantity") || strings.HasSuffix(of, "IntOrString")
		switch {
		case json == "-":
		case strings.Contains(options, "inline") || len(field.Names) == 0 && json == "":
			if shape == "struct" {
				r.fields(of)
			}
		case shape == "scalar" && empty:
			r.Omitted = append(r.Omitted, json)
		case (shape == "list" || shape == "map") && !empty, time && !zero:
			r.Null = append(r.Null, json)
		case shape == "struct" && zero && !time && !text:
			r.OmittedStructs = append(r.OmittedStructs, json)
		}
	}
}

func main() {
	cache, version = os.Args[2], os.Args[3]
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	definitions, rows, names := map[string]json.RawMessage{}, map[string]row{}, []string{}
	if err := json.Unmarshal(text, &definitions); err != nil {
		log.Fatal(err)
	}
	for name := range definitions {
		// io.k8s.api.core.v1.Pod
		parts := strings.Split(strings.TrimPrefix(name, "io.k8s."), ".")
		in := "k8s.io/" + strings.Join(parts[:len(parts)-1], "/")
		readPackage(in)
		it := row{}
		it.fields(in + "." + parts[len(parts)-1])
		slices.Sort(it.Omitted)
		if it.Omitted != nil || it.Null != nil || it.OmittedStructs != nil {
			rows[name] = it
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for index, name := range names {
		text, _ := json.Marshal(rows[name])
		fmt.Printf("%s\n%q:%s", map[bool]string{true: "{", false: ","}[index == 0], name, text)
	}
	fmt.Println("\n}")
}
