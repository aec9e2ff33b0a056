import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { faultUpstream, type FaultUpstream } from '../../test/fakes/fault-upstream.ts'
import { startGithub, type Github } from '../../test/fakes/identity/github.ts'
import { chatLanguage } from '../../test/fakes/languages/chat.ts'
import { geminiLanguage } from '../../test/fakes/languages/gemini.ts'
import { answering } from '../../test/fakes/languages/language.ts'
import { messagesLanguage } from '../../test/fakes/languages/messages.ts'
import { letAgentIn } from '../../test/sign-in/let-agent-in.ts'
import { configPath, configText, startProtected, startSignIn, type SignInRig } from '../../test/sign-in/rig.ts'
import { entryOf } from '../clients/upstreams.ts'

/**
 * The real Claude Code signs in at svc, from its first screen to an answer, and uses models of three formats of
 * providers; then over a restart, and for a person who may not enter any more. Prints a line a step, and exits with 1
 * if one failed. Needs Linux, root (for managed settings of its own, in a namespace of mounts), tmux, and Claude Code:
 * `SVC_CLAUDE`, else that of lab/clients; Codex likewise, if it is there.
 */

const claude = process.env['SVC_CLAUDE'] ?? join(import.meta.dir, '../clients/node_modules/.bin/claude')
const codex = process.env['SVC_CODEX'] ?? join(import.meta.dir, '../clients/node_modules/.bin/codex')
const languages = [chatLanguage, messagesLanguage, geminiLanguage]
const answer = 'Hello from a fake.'
const goalMs = 60_000
const stepMs = 300
const settleMs = 1_200

/** Screens of Claude Code, and the keys that go on. */
const screens: readonly (readonly [screen: RegExp, keys: readonly string[]])[] = [
  [/Choose the text style/, ['Enter']],
  [/Enter to connect/, ['Enter']],
  [/No, go back/, ['Up', 'Enter']],
  [/Press Enter to continue/, ['Enter']],
  [/Yes, I trust this folder/, ['Down', 'Enter']],
]
const codeForm = /\b[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}\b/

let failures = 0
function report(step: string, hasPassed: boolean, note: string): void {
  if (!hasPassed) failures += 1
  console.log(`| ${step} | ${hasPassed ? 'yes' : 'NO'} | ${note} |`)
}

/** The first line that is no warning of the program. */
function noteOf(said: string): string {
  return (
    said
      .split('\n')
      .find((line) => /^(?!\[|Claude Code doesn)\S/.test(line))
      ?.slice(0, 90) ?? ''
  )
}

/** One machine with Claude Code and managed settings for a service. */
class Machine {
  readonly #folder: string
  readonly #socket = `svc-agents-${process.pid}`

  constructor(folder: string) {
    this.#folder = folder
  }

  static async make(gateway: string): Promise<Machine> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-agent-'))
    for (const name of ['home', 'project']) await mkdir(join(folder, name))
    await cp('/etc', join(folder, 'etc'), { recursive: true, verbatimSymlinks: true })
    await mkdir(join(folder, 'etc', 'claude-code'), { recursive: true })
    const settings = { forceLoginMethod: 'gateway', forceLoginGatewayUrl: gateway }
    await writeFile(join(folder, 'etc', 'claude-code', 'managed-settings.json'), JSON.stringify(settings))
    const variables = [`PATH="${process.env['PATH']}"`, `HOME="${folder}/home"`, 'TERM=xterm-256color', 'LANG=C.UTF-8']
      .concat('BROWSER=true', 'DISABLE_AUTOUPDATER=1', 'IS_SANDBOX=1')
      .join(' ')
    const script = `#!/bin/sh
mount --bind "${folder}/etc" /etc && cd "${folder}/project"
exec env -i ${variables} "${claude}" "$@"
`
    await writeFile(join(folder, 'start'), script)
    await chmod(join(folder, 'start'), 0o755)
    return new Machine(folder)
  }

  #tmux(...argv: readonly string[]): string {
    return Bun.spawnSync(['tmux', '-L', this.#socket, ...argv]).stdout.toString()
  }

  /** Starts it on a terminal, and goes on until it has answered. @param approve lets a code in */
  async login(approve: (code: string) => Promise<void>): Promise<number> {
    const started = performance.now()
    this.#tmux('new-session', '-d', '-x', '120', '-y', '45', `unshare -m ${this.#folder}/start --model chat`)
    const approved = new Set<string>()
    let hasAsked = false
    try {
      while (performance.now() - started < 2 * goalMs) {
        await Bun.sleep(stepMs)
        const screen = this.#tmux('capture-pane', '-p')
        if (screen.includes(answer)) return performance.now() - started
        const code = /confirm this code/.test(screen) ? codeForm.exec(screen)?.[0] : undefined
        const keys = screens.find(([form]) => form.test(screen))?.[1]
        if (code !== undefined && !approved.has(code)) {
          approved.add(code)
          await approve(code)
        } else if (keys !== undefined) {
          for (const key of keys) {
            this.#tmux('send-keys', key)
            await Bun.sleep(stepMs)
          }
          await Bun.sleep(settleMs)
        } else if (!hasAsked && /Cloud gateway\s*$/m.test(screen) && /^❯/m.test(screen)) {
          hasAsked = true
          this.#tmux('send-keys', 'hi', 'Enter')
        }
      }
      throw new Error(`no answer:\n${this.#tmux('capture-pane', '-p')}`)
    } finally {
      this.#tmux('kill-server')
    }
  }

  /** Asks one question without a terminal. @returns all that it prints */
  async ask(model: string): Promise<string> {
    const child = Bun.spawn(['unshare', '-m', join(this.#folder, 'start'), '--model', model, '-p', 'hi'], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: goalMs,
    })
    return (await child.stdout.text()) + (await child.stderr.text())
  }

  get #credentials(): string {
    return join(this.#folder, 'home', '.claude', '.credentials.json')
  }

  /** Lets its access token end soon, so that it renews. */
  async age(): Promise<void> {
    const text = await readFile(this.#credentials, 'utf8')
    await writeFile(this.#credentials, text.replace(/"expiresAt":\d+/, `"expiresAt":${Date.now() + 100_000}`))
  }

  async refreshToken(): Promise<string | undefined> {
    return /"idpRefreshToken":"([^"]+)"/.exec(await readFile(this.#credentials, 'utf8'))?.[1]
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true })
  }
}

const upstreams = languages.map((language): FaultUpstream =>
  faultUpstream(answering(language, [{ kind: 'text', text: answer }])),
)
const providers = languages.map((language, index) => {
  const upstream = upstreams[index]
  if (upstream === undefined) throw new Error('each format has an upstream')
  return entryOf(language.name, language, upstream, [language.name])
})

/** A service without a database: sign-in, and an answer over each format. */
async function signInAndAsk(): Promise<void> {
  await using rig = await startSignIn(startGithub, { config: { agents: true } })
  await rig.service.configure({ providers })
  const machine = await Machine.make(rig.service.url)
  try {
    const ms = await machine.login((code) => letAgentIn(rig, rig.service.url, code))
    report('from the first screen to an answer, without a database', ms <= goalMs, `${(ms / 1000).toFixed(1)} s`)
    for (const { name } of languages) {
      const said = await machine.ask(name)
      report(`an answer of a provider of ${name}`, said.includes(answer), noteOf(said))
    }
    await askBySvcToken(rig)
    const unknown = await machine.ask('unknown')
    report('an unknown model', /may not exist/.test(unknown), noteOf(unknown))
  } finally {
    await machine.remove()
  }
}

/** `svc login`, and programs that ask `svc token`, as `svc connect` sets them up. */
async function askBySvcToken(rig: SignInRig<Github>): Promise<void> {
  const { url } = rig.service
  const home = await mkdtemp(join(tmpdir(), 'svc-agent-'))
  const svc = join(import.meta.dir, '../../bin/svc')
  await mkdir(join(home, 'bin'))
  await symlink(svc, join(home, 'bin', 'svc'))
  const env = { PATH: `${home}/bin:${process.env['PATH']}`, HOME: home, IS_SANDBOX: '1', DISABLE_AUTOUPDATER: '1' }
  const run = async (...argv: readonly string[]): Promise<string> => {
    const child = Bun.spawn([...argv], { cwd: home, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
    setTimeout(() => child.kill(), goalMs).unref()
    return (await child.stdout.text()) + (await child.stderr.text())
  }
  try {
    const login = Bun.spawn([svc, 'login', url], { env, stdout: 'pipe' })
    let shown = ''
    for await (const bytes of login.stdout) {
      const isNew = !codeForm.test(shown)
      shown += new TextDecoder().decode(bytes)
      const code = codeForm.exec(shown)?.[0]
      if (isNew && code !== undefined) await letAgentIn(rig, url, code)
    }
    report('svc login', (await login.exited) === 0, shown.trim().split('\n').at(-1) ?? '')
    await run(svc, 'connect', 'claude-code', '--url', url, '--model', 'chat', '--write')
    const byClaude = await run(claude, '-p', 'hi')
    report('Claude Code with svc token', byClaude.includes(answer), noteOf(byClaude))
    if (!existsSync(codex)) return report('Codex with svc token', true, `left out: there is no ${codex}`)
    await run(svc, 'connect', 'codex', '--url', url, '--model', 'chat', '--write')
    const byCodex = await run(codex, 'exec', '--skip-git-repo-check', 'hi')
    report('Codex with svc token', byCodex.includes(answer), byCodex.includes(answer) ? answer : byCodex.slice(-300))
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** A service with a database: a restart, and a person who is removed. */
async function restartAndRemove(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'svc-agents-home-'))
  async function configure(fake: Github, registration: SignInRig['registration'], more: object): Promise<void> {
    await mkdir(dirname(join(home, configPath)), { recursive: true })
    await writeFile(join(home, configPath), configText(fake, registration, { agents: true, ...more }), { mode: 0o600 })
  }
  const options = {
    ...{ isOnByFlag: false, flags: ['--auth', 'provider_auth,keys'], environment: { SVC_HOME: home }, owners: ['ada'] },
  } as const
  const rig = await startSignIn(async (registration) => {
    const fake = startGithub(registration)
    await configure(fake, registration, {})
    return fake
  }, options)
  await rig.service.configure({ providers, owners: ['ada'] })
  const machine = await Machine.make(rig.service.url)
  try {
    await machine.login((code) => letAgentIn(rig, rig.service.url, code))
    await rig.service.stop()
    await using again = await startProtected('http://127.0.0.1:1', {}, { ...options, port: rig.service.port })
    await again.configure({ providers, owners: ['ada'] })
    const before = await machine.refreshToken()
    await machine.age()
    const said = await machine.ask('chat')
    const after = await machine.refreshToken()
    const isRenewed = after !== undefined && after !== before
    report('an answer after a restart, with renewed tokens', said.includes(answer) && isRenewed, '')
    await configure(rig.provider, rig.registration, { restrict_to: 'grace' })
    await Bun.sleep(settleMs)
    const started = performance.now()
    const refused = await machine.ask('chat')
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    report('refused when the person is removed', !refused.includes(answer), `${seconds} s: ${noteOf(refused)}`)
  } finally {
    await machine.remove()
    await rig[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  }
}

if (!existsSync(claude)) throw new Error(`there is no ${claude}: npm run clients installs it, or set SVC_CLAUDE`)
console.log(`${Bun.spawnSync([claude, '--version']).stdout.toString().trim()}\n\n| Step | | |\n|---|---|---|`)
await signInAndAsk()
await restartAndRemove()
for (const upstream of upstreams) await upstream.stop()
process.exitCode = failures === 0 ? 0 : 1
