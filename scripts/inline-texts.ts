import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The languages of the page, the default first. Each is a file of web/texts/. */
export const languages = ['en', 'de'] as const

export type Language = (typeof languages)[number]

const web = join(import.meta.dir, '..', 'web')

/** The texts of the page, or of an extension's part in its folder; English where there are no others. */
export async function textsOf(folder: string, language: Language): Promise<unknown> {
  const path = join(folder, 'texts', `${language}.ts`)
  const module: unknown = await import(existsSync(path) ? path : join(folder, 'texts', 'en.ts'))
  return Object.values(module as object)[0]
}

/** A text, function or record of texts as source code. Functions use `plural` and nothing else from outside. */
export function sourceOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'function') return `(${String(value)})`
  if (Array.isArray(value)) return `[${value.map(sourceOf).join()}]`
  return `({${Object.entries(value as object)
    .map(([name, each]) => `${JSON.stringify(name)}:${sourceOf(each)}`)
    .join()}})`
}

/** The import of all texts, for types and tests. */
const textsImport = /^import \{ (?:en as )?say \} from '[^']+'\n/m

/** Writes texts in place of their names, such as `say.chat.send`. @throws for a name without a text */
export function inlineTexts(source: string, texts: unknown, path: string): string {
  const inlined = writeTexts(source, texts, path).replace(textsImport, '')
  if (!/\bplural\(/.test(inlined) || /import \{[^}]*\bplural\b[^}]*\}/.test(inlined)) return inlined
  return `import { plural } from ${JSON.stringify(join(web, 'texts', 'locale.ts'))}\n${inlined}`
}

function writeTexts(source: string, texts: unknown, path: string): string {
  let inlined = '',
    end = 0
  for (const { index, 0: all, 1: names = '' } of source.matchAll(/(?<!\/|\w|(?<!\.\.)\.)say((?:\.\w+)+)/g)) {
    if (index < end) continue
    let value = texts
    const rest = names.slice(1).split('.')
    while (rest.length > 0 && typeof value === 'object' && value !== null)
      value = Reflect.get(value, rest.shift() ?? '')
    if (value === undefined) throw new Error(`${path}: there is no text ${all}`)
    inlined += source.slice(end, index)
    end = index + all.length
    const call = typeof value === 'function' ? callAt(source, end) : undefined
    const filled = call === undefined ? undefined : fill(String(value), call.values)
    if (call !== undefined && filled !== undefined) {
      // The values may have texts, too.
      inlined += writeTexts(filled, texts, path)
      end = call.end
    } else inlined += [sourceOf(value), ...rest].join('.')
  }
  return inlined + source.slice(end)
}

/** The arguments of a call that begins at an offset, as source code; `undefined`: there is none, or a hard one. */
function callAt(
  source: string,
  start: number,
): { readonly values: readonly string[]; readonly end: number } | undefined {
  if (source[start] !== '(') return undefined
  const values: string[] = []
  let depth = 0,
    from = start + 1
  for (let at = start; at < source.length; at++) {
    const sign = source[at] ?? ''
    if (/["'`/]/.test(sign)) return undefined
    if (/[([{]/.test(sign)) depth++
    if (/[)\]}]/.test(sign)) depth--
    if (depth > 1 || (depth === 1 && sign !== ',')) continue
    const value = source.slice(from, at).trim()
    if (value !== '') values.push(value)
    from = at + 1
    if (depth === 0) return { values, end: at + 1 }
  }
  return undefined
}

/**
 * The template of a function with the values of a call in place of its parameters; `undefined`: it is no template, has
 * a parameter twice, or computes something.
 */
function fill(written: string, values: readonly string[]): string | undefined {
  const [, parameters = '', template] = /^\(([\w, ]*)\) => (`[^`]*`)$/.exec(written) ?? []
  const names = parameters.split(',').map((name) => name.trim())
  const used = [...(template ?? '').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)
  if (template === undefined || names.length !== values.length || new Set(used).size !== used.length) return undefined
  if (template.split('${').length - 1 !== used.length) return undefined
  return template.replace(/\$\{(\w+)\}/g, (_, name: string) => `\${${values[names.indexOf(name)] ?? ''}}`)
}

/**
 * A plugin of the bundler that writes the texts of one language into the sources of the page.
 *
 * @param imports paths of modules that files import besides those they name
 */
export function textsPlugin(language: Language, imports: ReadonlyMap<string, readonly string[]>): Bun.BunPlugin {
  return {
    name: 'texts',
    setup(build) {
      build.onLoad(
        { filter: /(?:[/\\]web[/\\](?!texts[/\\]|node_modules)|[/\\]page-part\.tsx).*/ },
        async ({ path }) => {
          const added = imports.get(path)?.map((each) => `import ${JSON.stringify(each)}\n`) ?? []
          const source = added.join('') + (await readFile(path, 'utf8'))
          const loader = path.endsWith('.tsx') ? 'tsx' : 'ts'
          if (!/\bsay\./.test(source)) return { contents: source, loader }
          const folder = path.endsWith('page-part.tsx') ? dirname(path) : web
          return { contents: inlineTexts(source, await textsOf(folder, language), path), loader }
        },
      )
    },
  }
}
