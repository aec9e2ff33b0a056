import { names } from '../src/extensions/extension-list.ts'

/** For the bundler: the list of extensions as imports that it can follow. A bundle has no folders to search. */
export const listedExtensions: Bun.BunPlugin = {
  name: 'listed extensions',
  setup(build) {
    build.onLoad({ filter: /[/\\]extensions[/\\]extension-list\.ts$/ }, () => ({
      loader: 'js',
      contents: `
export const names = ${JSON.stringify(names)}
const loaders = { ${names.map((name) => `${name}: () => import('./${name}/extension.ts')`).join(', ')} }
export const load = (name) => loaders[name]()
`,
    }))
  },
}
