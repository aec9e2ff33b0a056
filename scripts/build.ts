import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { names } from '../src/extensions/known.ts'

/** What `npm run build` runs: one executable of everything, which does what `svc` does. Argument: where to write it (default: dist/svc). */

const root = join(import.meta.dir, '..')
const outfile = process.argv[2] ?? join(root, 'dist', 'svc')

/** What is found by looking into folders must be named to be built in. */
const knownExtensions = `
export const names = ${JSON.stringify(names)}
const loaders = { ${names.map((name) => `${name}: () => import('./${name}/extension.ts')`).join(', ')} }
export const load = (name) => loaders[name]()
`

await mkdir(dirname(outfile), { recursive: true })
const built = await Bun.build({
  entrypoints: [join(root, 'src', 'main.ts')],
  compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  minify: { whitespace: true, syntax: true, identifiers: false },
  sourcemap: 'inline',
  plugins: [{
    name: 'extensions',
    setup: (build) => void build.onLoad({ filter: /[/\\]extensions[/\\]known\.ts$/ }, () => ({ contents: knownExtensions, loader: 'js' })),
  }],
})
if (!built.success) {
  for (const message of built.logs) console.error(String(message))
  process.exit(1)
}
const { size } = await stat(outfile)
console.log(`${outfile} (${Math.round(size / 1_048_576)} MiB)`)
