import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import manifest from '../package.json'
import { startLines } from '../src/app/start-lines.ts'
import { parseConfig } from '../src/config/file/parse-config.ts'
import { startService, type ServiceUnderTest } from './harness.ts'

/**
 * Runs the examples of the documents. A comment before a fenced block gives its kind: `<!-- run -->` is run against a
 * service of that document, with the built-in echo until a `<!-- config -->`; `<!-- prints -->` is the output of the
 * run before it. `<!-- start -->` starts the service with its flags. White space, ids, times and durations are ignored
 * there; `…` matches anything.
 */

const root = join(import.meta.dir, '..')
const documents = [...new Bun.Glob('**/*.md').scanSync({ cwd: root })]
  .filter((path) => !/(?:^|\/)node_modules\//.test(path))
  .toSorted()
const sources = [...new Bun.Glob('{src,bench,test,scripts}/**/*.ts').scanSync({ cwd: root })]
  .filter((path) => !/node_modules\//.test(path))
  .toSorted()
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

/** A fenced block with a comment before it. */
interface Example {
  readonly kind: string
  readonly language: string
  readonly code: string
}

function examplesOf(text: string): readonly Example[] {
  return Array.from(
    text.matchAll(/^ *<!-- ([a-z ]+) -->\n+ *```([a-z]+)\n([^]*?)^ *```$/gm),
    ([, kind = '', language = '', code = '']) => ({ kind, language, code }),
  )
}

function withoutCode(text: string): string {
  return text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
}

/** Replaces all that differs from run to run. */
function stable(text: string): string {
  return text
    .replace(/[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}/g, 'UUID')
    .replace(/"created":\d+/g, '"created":TIME')
    .replace(/"created_at":"[^"]+"/g, '"created_at":TIME')
    .replace(/\b(ms|dur)=[\d.]+/g, '$1=TIME')
    .replace(/\s+/g, '')
}

/** Anchor of a heading on GitHub. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

function anchors(path: string): readonly string[] {
  return Array.from(
    textOf(path)
      .replace(/^```[^]*?^```$/gm, '')
      .matchAll(/^#+ (.+)$/gm),
    ([, heading = '']) => anchorOf(heading),
  )
}

describe('examples in the documents', () => {
  const withExamples = documents
    .map((path) => ({
      path,
      examples: examplesOf(textOf(path)).filter(({ kind }) => ['start', 'run', 'prints', 'config'].includes(kind)),
    }))
    .filter(({ examples }) => examples.length > 0)

  test('are found', () => {
    expect(withExamples.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/api.md', 'docs/errors.md']),
    )
  })

  for (const { path, examples } of withExamples) {
    describe(path, () => {
      let service: ServiceUnderTest | undefined
      afterAll(() => service?.stop())
      const usesCurl = examples.some(({ language, code }) => language === 'sh' && code.includes('curl'))
      const runsHere = !usesCurl || Bun.which('curl') !== null

      test.skipIf(!runsHere)('print what is written below them', async () => {
        service = await startService({ providers: [{ id: 'echo' }] })
        let printed = ''
        for (const { kind, language, code } of examples) {
          if (kind === 'config') await reconfigure(service, code)
          else if (kind === 'start') {
            await service.stop()
            service = await startService({ providers: [{ id: 'echo' }] }, { flags: code.trim().split(' ').slice(3) })
          } else if (kind === 'run') printed = await run(service, language, code)
          else
            expect(stable(printed)).toMatch(
              new RegExp(
                `^${code
                  .split('…')
                  .map((part) => RegExp.escape(stable(part)))
                  .join('[^]*')}$`,
              ),
            )
        }
      })
    })
  }

  async function reconfigure(service: ServiceUnderTest, config: string): Promise<void> {
    const reloads = () => service.logs.filter(({ message }) => message === 'configuration reloaded').length
    const before = reloads()
    await service.configure(config)
    for (let round = 0; reloads() === before; round++) {
      if (round === 500) throw new Error(`the configuration was not taken over:\n${service.output}`)
      await Bun.sleep(10)
    }
  }

  async function run(service: ServiceUnderTest, language: string, code: string): Promise<string> {
    const here = code
      .replaceAll('http://127.0.0.1:8000', service.url)
      .replaceAll(/npm run (?:-s )?svc --/g, 'sh bin/svc')
    const isScript = language === 'js'
    const command = isScript ? [process.execPath, '-e', here] : ['sh', '-euc', here]
    const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$|^SVC_/i.test(name)))
    const child = Bun.spawn(command, {
      // Scripts find the client libraries there.
      cwd: isScript ? join(root, 'test') : root,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...environment, SVC_HOME: service.home, SVC_CONFIG: service.file, NO_COLOR: '1' },
    })
    const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
    if (exitCode !== 0) throw new Error(`exit code ${exitCode} of\n${here}\n${stdout}${stderr}`)
    return stdout
  }
})

describe('README.md', () => {
  test('shows what a start without a configuration prints', () => {
    const config = {
      ...parseConfig('{"providers":[{"id":"echo"}]}', { file: 'providers.json', environment: {} }),
      source: { kind: 'echo' as const },
    }
    const shown = examplesOf(textOf('README.md')).find(({ kind }) => kind === 'start lines')?.code
    expect(shown).toBe(
      startLines({
        ...{ host: '127.0.0.1', port: 8000, config, path: '~/.svc/providers.json', keysFile: '~/.svc/keys.env' },
        program: 'npm run svc --',
      }),
    )
  })

  test('has at most 900 words before its licence', () => {
    const [text = ''] = textOf('README.md').split(/^Licence:/m)
    expect(text.match(/\S+/g)?.length).toBeLessThanOrEqual(900)
  })

  test('names only npm scripts that exist', () => {
    const scripts: unknown = Reflect.get(JSON.parse(textOf('package.json')), 'scripts')
    const named = documents.flatMap((path) =>
      Array.from(textOf(path).matchAll(/\bnpm run (?:-s )?([a-z]+)/g), ([, name = '']) => name),
    )
    expect(
      named.filter((name) => typeof scripts !== 'object' || scripts === null || !Object.hasOwn(scripts, name)),
    ).toEqual([])
  })
})

test('docs/README.md leads to every page of docs/', () => {
  const map = textOf('docs/README.md')
  const pages = documents.filter((path) => /^docs\/[^/]+$/.test(path) && path !== 'docs/README.md')
  expect(pages.filter((path) => !map.includes(`](${basename(path)}`))).toEqual([])
})

test('every configuration that is shown is valid', () => {
  const shown = documents.flatMap((path) =>
    Array.from(textOf(path).matchAll(/^```jsonc\n([^]*?)^```$/gm), ([, config = '']) => config),
  )
  expect(
    shown.map((config) => parseConfig(config, { file: 'providers.json', environment: {} }).providers.length),
  ).not.toContain(0)
  expect(shown.length).toBeGreaterThan(3)
})

describe('links', () => {
  const links = documents
    .flatMap((path) =>
      Array.from(withoutCode(textOf(path)).matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => ({ path, target })),
    )
    .filter(({ target }) => !/^[a-z]+:/.test(target))

  test('of all documents lead to files that exist', () => {
    const broken = links.filter(({ path, target }) => {
      const [file = ''] = target.split('#')
      return !existsSync(join(root, file === '' ? path : join(dirname(path), file)))
    })
    expect(broken.map(({ path, target }) => `${path}: ${target}`)).toEqual([])
    expect(links.length).toBeGreaterThan(20)
  })

  test('to headings lead to headings', () => {
    const broken = links.filter(({ path, target }) => {
      const [file = '', anchor] = target.split('#')
      const linked = file === '' ? path : join(dirname(path), file)
      return anchor !== undefined && existsSync(join(root, linked)) && !anchors(linked).includes(anchor)
    })
    expect(broken.map(({ path, target }) => `${path}: ${target}`)).toEqual([])
  })

  test('in the code to pages of docs/ lead to pages', () => {
    const cited = [...sources, ...documents].flatMap((path) =>
      Array.from(textOf(path).matchAll(/(?<![\w./-])docs\/[\w/-]+\.md/g), ([page]) => ({ path, page })),
    )
    expect(
      cited.filter(({ page }) => !existsSync(join(root, page))).map(({ path, page }) => `${path}: ${page}`),
    ).toEqual([])
  })
})

describe('docs/contributing/', () => {
  const pages = ['CONTRIBUTING.md', ...documents.filter((path) => path.startsWith('docs/contributing/'))]

  test.each(pages)('%s names files and folders that exist', (page) => {
    const named = Array.from(
      textOf(page).matchAll(
        /(?<![\w./-])((?:src|web|test|docs|scripts|schema|bench|lab|bin)\/[\w./-]*[\w/]|[A-Z]+\.md)(?![\w{])/g,
      ),
      ([, path = '']) => path,
    )
    // A word in capitals, as in `src/stores/KIND.ts`, is the name of the new thing.
    const existing = named.filter((path) => !/(?:^|\/)(?:NAME|KIND|FILE)\b/.test(path))
    expect(existing.filter((path) => !existsSync(join(root, path)))).toEqual([])
    expect(existing.length).toBeGreaterThan(2)
  })

  test('README.md lists all pages', () => {
    const readme = textOf('docs/contributing/README.md')
    expect(
      pages.slice(1).filter((page) => !page.endsWith('README.md') && !readme.includes(`](${basename(page)})`)),
    ).toEqual([])
  })

  test('the table of the page for brands names the fields of a brand', () => {
    const fields = Array.from(
      (/export interface Brand \{([^]*?)\n\}/.exec(textOf('src/config/brand.ts'))?.[1] ?? '').matchAll(
        /readonly (\w+)\??:/g,
      ),
      ([, name = '']) => name,
    )
    expect(fields.length).toBeGreaterThan(8)
    expect(fields.filter((name) => !textOf('docs/contributing/brand.md').includes(`\`${name}`))).toEqual([])
  })
})

describe('docs/errors.md, with docs/contributing/page-api.md for the page,', () => {
  const rows = Array.from(
    `${textOf('docs/errors.md')}\n${textOf('docs/contributing/page-api.md')}`.matchAll(
      /^\| ([\d, ]+) \| `(\w+)` \| `(\w+)` \|/gm,
    ),
    ([, statuses = '', type = '', name = '']) => ({ statuses: statuses.split(', '), type, name }),
  )
  const code = sources
    .filter((path) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    .map(textOf)
    .join('\n')
  const made = Array.from(
    code.matchAll(/new WireError\(\s*(\w+),\s*'(\w+)',\s*'(\w+)'/g),
    ([, status = '', type = '', name = '']) => ({ status, type, name }),
  )
  const invalid = Array.from(code.matchAll(/invalidRequest\(\s*'(\w+)'/g), ([, name = '']) => ({
    status: '400',
    type: 'invalid_request_error',
    name,
  }))
  const thrown = [...made, ...invalid]

  test('lists every error of the code, with its status and type', () => {
    // A computed status is one of several: the row lists them all.
    const missing = thrown.filter(
      ({ status, type, name }) =>
        !rows.some(
          (row) => row.name === name && row.type === type && (row.statuses.includes(status) || !/^\d+$/.test(status)),
        ),
    )
    expect(missing).toEqual([])
    expect(new Set(thrown.map(({ name }) => name)).size).toBeGreaterThan(12)
  })

  test('lists no error that the code does not have', () => {
    const names = new Set(thrown.map(({ name }) => name))
    expect(rows.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([])
  })

  test('misses no error: all are made with a literal type and code, but for those of invalidRequest', () => {
    expect(code.match(/new WireError\(/g)).toHaveLength(made.length + 1)
  })
})

describe('docs/failover.md', () => {
  const text = textOf('docs/failover.md')

  test('has its 44 rows, in order', () => {
    expect(Array.from(text.matchAll(/^\| (\d\d?) \|/gm), ([, number]) => Number(number))).toEqual(
      Array.from({ length: 44 }, (_, position) => position + 1),
    )
  })

  test('explains every class of failure', () => {
    const union = /export type FailureClass =([^]*?)\n\n/.exec(textOf('src/service/failure.ts'))?.[1] ?? ''
    const classes = Array.from(union.matchAll(/'(\w+)'/g), ([, name = '']) => name)
    const explained = Array.from(
      (/### Classes\n([^]*?)\n## /.exec(text)?.[1] ?? '').matchAll(/`(\w+)`/g),
      ([, name = '']) => name,
    )
    expect(explained.toSorted()).toEqual(classes.toSorted())
  })
})

test('docs/configuration.md has the times of the service as the code has them', () => {
  const inCode = Array.from(
    textOf('src/app/timers.ts').matchAll(/name: '(SVC_\w+)', fallback: ([\d_]+)/g),
    ([, name, ms = '']) => [name, Number(ms.replaceAll('_', ''))],
  )
  const inDocument = Array.from(
    textOf('docs/configuration.md').matchAll(/^\| `(SVC_\w+)` \| ([\d,]+) \|/gm),
    ([, name, ms = '']) => [name, Number(ms.replaceAll(',', ''))],
  )
  expect(inDocument).toEqual(inCode)
  expect(inCode.length).toBeGreaterThan(4)
})

test('CHANGELOG.md has one section for each kind of change, in order', () => {
  for (const release of textOf('CHANGELOG.md').split(/^## /m).slice(1)) {
    const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
    const sections = Array.from(release.matchAll(/^### (.*)$/gm), ([, kind = '']) => kind)
    expect(sections).toEqual(kinds.filter((kind) => sections.includes(kind)))
  }
})

test('CHANGELOG.md has at most 120 lines for each version', () => {
  const [, , ...versions] = textOf('CHANGELOG.md').split(/^## /m)
  expect(versions.map((text) => text.split('\n').length).filter((count) => count > 120)).toEqual([])
  expect(versions.length).toBeGreaterThan(0)
})

test('no document names a path of a developer’s machine', () => {
  const found = documents.flatMap((path) =>
    Array.from(
      textOf(path).matchAll(/(?<![\w.~:/-])\/(?:work|root|home|Users|tmp)\/\S*/g),
      ([machine]) => `${path}: ${machine}`,
    ),
  )
  expect(found).toEqual([])
})

test('examples/Containerfile copies every workspace and every folder of the build', () => {
  const copied = Array.from(textOf('examples/Containerfile').matchAll(/^COPY (.+) \S+$/gm), ([, from = '']) => from)
  const needed = ['bin', 'scripts', 'schema', 'src', ...manifest.workspaces]
  expect(needed.filter((folder) => !copied.includes(folder))).toEqual([])
  expect(manifest.workspaces.filter((folder) => !copied.includes(`${folder}/package.json`))).toEqual([])
})
