import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerOf, errorOf, parseJson, pick } from '../client.ts'
import { startGithub, type Github } from '../fakes/identity/github.ts'
import { needs } from '../needs.ts'
import { startSignIn, type SignInRig } from './rig.ts'

/** A response; redirects are not followed. */
interface Redirect {
  readonly status: number
  readonly location: string | null
}

/** An HTTP client for scripts. */
interface Client {
  readonly name: string
  /** Absent if not installed. */
  readonly signIn: ((url: string) => Promise<readonly Redirect[]>) | undefined
}

/** Requests three URLs: the service, the identity provider, the callback. */
function byHops(get: (url: string) => Promise<Redirect>): (url: string) => Promise<readonly Redirect[]> {
  return async function follow(url) {
    const answers: Redirect[] = []
    for (let next: string | null = url; next !== null && answers.length < 3; next = answers.at(-1)?.location ?? null)
      answers.push(await get(next))
    return answers
  }
}

async function outputOf(
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [code, output, errors] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${errors}`)
  return output
}

const pythonScript = `
import json, sys, urllib.error, urllib.request
class Manual(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None
try:
    answer = urllib.request.build_opener(Manual).open(sys.argv[1])
except urllib.error.HTTPError as error:
    answer = error
print(json.dumps({"status": answer.code, "location": answer.headers["location"]}))
`

function redirectOf(value: unknown): Redirect {
  const location = pick(value, 'location')
  return {
    status: Number(pick(value, 'status')),
    location: typeof location === 'string' && location !== '' ? location : null,
  }
}

let nodeOutput: Promise<string> | undefined

/** Responses of one of Node's clients. All run in one process. */
async function withNode(name: string, url: string): Promise<readonly Redirect[]> {
  nodeOutput ??= outputOf(['node', join(import.meta.dir, 'clients.mjs'), url])
  const line = (await nodeOutput)
    .split('\n')
    .map(parseJson)
    .find((each) => pick(each, 'client') === name)
  const answers = pick(line, 'answers')
  return Array.isArray(answers) ? answers.map(redirectOf) : []
}

const curl = needs('curl'),
  python = needs('python3')

const clients: readonly Client[] = [
  ...['fetch', 'undici.fetch', 'undici.request', 'axios (fetch)', 'axios (http)', 'node:http'].map((name): Client => ({
    name: `Node’s ${name}`,
    signIn: (url) => withNode(name, url),
  })),
  {
    name: 'Bun’s fetch',
    signIn: byHops(async (url) => {
      const response = await fetch(url, { redirect: 'manual' })
      return { status: response.status, location: response.headers.get('location') }
    }),
  },
  {
    name: 'curl',
    signIn:
      curl === undefined
        ? undefined
        : byHops(async (url) => {
            const [status, location] = (
              await outputOf([
                curl,
                '--silent',
                '--output',
                '/dev/null',
                '--write-out',
                '%{http_code} %{redirect_url}',
                url,
              ])
            ).split(' ')
            return redirectOf({ status, location })
          }),
  },
  {
    name: 'Python’s urllib',
    signIn:
      python === undefined
        ? undefined
        : byHops(async (url) => redirectOf(parseJson(await outputOf([python, '-c', pythonScript, url])))),
  },
]

let rig: SignInRig<Github>
beforeAll(async () => {
  rig = await startSignIn(startGithub)
})
afterAll(() => rig[Symbol.asyncDispose]())

describe('a script without cookies signs in with', () => {
  for (const { name, signIn } of clients) {
    test.skipIf(signIn === undefined)(name, async () => {
      const answers = (await signIn?.(`${rig.service.url}/auth/provider`)) ?? []
      expect(answers.map(({ status }) => status)).toEqual([302, 302, 302])
      const location = answers[2]?.location ?? ''
      const token = new URL(location, rig.service.url).searchParams.get('session') ?? ''
      rig.remember(token)
      expect([location.includes('/?session='), (await rig.ask({ authorization: `Bearer ${token}` })).status]).toEqual([
        true,
        200,
      ])
    })
  }
})

describe('the script of docs/sign-in-reference.md', () => {
  const [, code = ''] =
    /^<!-- script -->\n+```js\n([^]*?)^```$/m.exec(
      readFileSync(join(import.meta.dir, '../../docs/sign-in-reference.md'), 'utf8'),
    ) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'svc-script-'))
  const file = join(folder, 'sign-in.mjs')
  writeFileSync(file, code)
  afterAll(() => rmSync(folder, { recursive: true }))

  test('has some twenty lines', () => {
    const lines = code.split('\n').filter((line) => line !== '')
    expect(lines.length).toBeWithin(10, 26)
  })

  test.each([
    ['Node', 'node'],
    ['Bun', process.execPath],
  ])('prints a valid token under %s', async (_, command) => {
    const token = (await outputOf([command, file], { SVC_URL: rig.service.url })).trim()
    rig.remember(token)
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect((await rig.ask({ 'x-session-token': token })).status).toBe(200)
  })
})

test('a fetch of a page › 403 not_a_navigation', async () => {
  const response = await fetch(`${rig.service.url}/auth/provider`, {
    redirect: 'manual',
    headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
  })
  expect([response.status, errorOf(answerOf(response, await response.text()))?.code]).toEqual([403, 'not_a_navigation'])
})
