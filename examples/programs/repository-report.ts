// Which of the largest source files change most often? Joins sizes, lines and history.
interface Row {
  path: string
  bytes: number
  lines: number
  commits: number
}

const files = await tools.list_files({ folder: 'src' })
const largest = files.toSorted((left, right) => right.bytes - left.bytes).slice(0, 8)

const rows: Row[] = await Promise.all(
  largest.map(async ({ path, bytes }) => {
    const [text, history] = await Promise.all([tools.read_file({ path }), tools.file_history({ path })])
    return { path, bytes, lines: text.split('\n').length, commits: history.commits }
  }),
)

const total = files.reduce((sum, file) => sum + file.bytes, 0)
console.log(`${files.length} files in src, ${(total / 1024).toFixed(0)} KiB`)
return rows
  .toSorted((left, right) => right.commits - left.commits || right.lines - left.lines)
  .map((row) => `${String(row.commits).padStart(4)} commits  ${String(row.lines).padStart(4)} lines  ${row.path}`)
  .join('\n')
