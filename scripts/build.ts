import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** What `npm run build` runs: one executable of everything, which does what `svc` does. Argument: where to write it (default: dist/svc). */

const root = join(import.meta.dir, '..')
const outfile = process.argv[2] ?? join(root, 'dist', 'svc')

await mkdir(dirname(outfile), { recursive: true })
const built = await Bun.build({
  entrypoints: [join(root, 'src', 'main.ts')],
  compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  minify: { whitespace: true, syntax: true, identifiers: false },
  sourcemap: 'inline',
})
if (!built.success) {
  for (const message of built.logs) console.error(String(message))
  process.exit(1)
}
const { size } = await stat(outfile)
console.log(`${outfile} (${Math.round(size / 1_048_576)} MiB)`)
