// The five largest files below src, one line each.
const files = await tools.list_files({ folder: 'src' })
const largest = files.toSorted((left, right) => right.bytes - left.bytes).slice(0, 5)
console.log(`${files.length} files, ${files.reduce((sum, file) => sum + file.bytes, 0)} bytes`)
return largest.map((file) => `${file.bytes.toString().padStart(7)}  ${file.path}`).join('\n')
