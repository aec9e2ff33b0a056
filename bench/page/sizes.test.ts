import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { languages, textsOf } from '../../scripts/inline-texts.ts'
import { measureSizes, sizeLimits } from './sizes.ts'

const root = join(import.meta.dir, '..', '..')
const folder = join(root, 'dist', 'web')

beforeAll(async () => {
  const build = Bun.spawn([process.execPath, join(root, 'scripts', 'build-web.ts'), '--if-stale'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  expect(await build.exited).toBe(0)
}, 120_000)

describe.each(languages)('the page in %s', (language) => {
  test.each(['beforeFirstPaint', 'chatPage', 'panel', 'highlighter', 'formulas', 'style'] as const)(
    '%s is within its limit',
    (name) => {
      const bytes = measureSizes(folder, language)[name]
      const passed = bytes > sizeLimits[name] ? `${name} in ${language}: ${bytes} bytes, limit ${sizeLimits[name]}` : ''
      expect(bytes).toBeGreaterThan(1_000)
      expect(passed).toBe('')
    },
  )

  test('is one script before the first paint, and few for the chat', () => {
    const index = readFileSync(join(folder, `index-${language}.html`), 'utf8')
    const preloads = [...index.matchAll(/rel="modulepreload" href="[^"]+"(.*)>/g)].map(([, priority = '']) =>
      priority.trim(),
    )
    expect(preloads.filter((priority) => priority === '')).toHaveLength(1)
    expect(preloads.length).toBeLessThanOrEqual(5)
  })

  test("has texts of owners' views in their chunks, and in none of the chat", async () => {
    const texts = (await textsOf(join(root, 'web'), language)) as Readonly<Record<string, unknown>>
    const index = readFileSync(join(folder, `index-${language}.html`), 'utf8')
    const preloaded = new Set([...index.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g)].map(([, name = '']) => name))
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'))
    const contentOf = (isChat: boolean): string =>
      scripts
        .filter((name) => preloaded.has(name) === isChat)
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .join('\n')
    const [chat, others] = [contentOf(true), contentOf(false)]
    const long = ['providers', 'requests', 'usage', 'keys', 'limits', 'audit'].flatMap((room) => longTexts(texts[room]))
    expect(long.length).toBeGreaterThan(60)
    expect(long.filter((text) => chat.includes(text) || !others.includes(text))).toEqual([])
  })
})

/** Texts that no other is likely to contain, and that a bundler writes as they are. */
function longTexts(texts: unknown): readonly string[] {
  if (typeof texts === 'string') return texts.length > 25 && !/[{"'`\\]/.test(texts) ? [texts] : []
  return typeof texts === 'object' && texts !== null ? Object.values(texts).flatMap(longTexts) : []
}
