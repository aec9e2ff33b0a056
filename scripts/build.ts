// `npm run build`: one executable of everything, at dist/svc. It does what `svc` does.
import { mkdir, stat } from 'node:fs/promises'

const root = new URL('..', import.meta.url).pathname
const outfile = `${root}dist/svc`

await mkdir(`${root}dist`, { recursive: true })
const built = await Bun.build({
  entrypoints: [`${root}src/main.ts`],
  compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  minify: { whitespace: true, syntax: true, identifiers: false },
  sourcemap: 'inline',
})
if (!built.success) {
  for (const message of built.logs) console.error(String(message))
  process.exit(1)
}
const { size } = await stat(outfile)
console.log(`dist/svc (${Math.round(size / 1_048_576)} MiB)`)
