import { afterEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sessionsCommand } from '../cli/sessions.ts'
import { runCommand } from '../cli/testing.ts'
import { WireError } from '../formats/error.ts'
import { logger } from '../observe/log.ts'
import { CommandSocket } from './command-socket.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A home folder, and services on it that end this number of sessions. */
async function scene() {
  const home = await mkdtemp(join(tmpdir(), 'svc-command-socket-'))
  cleanUps.push(() => rm(home, { recursive: true }))
  const folder = join(home, 'run')
  const lines: string[] = []
  const log = logger({ level: 'debug', format: 'json', gatherMs: 0, write: async (text) => void lines.push(text) })
  return {
    home,
    folder,
    start(endAll?: (user: string) => Promise<number>) {
      const socket = new CommandSocket({ people: () => endAll && { endAll }, log })
      socket.open(folder)
      const close = () => socket.close()
      cleanUps.push(close)
      return close
    },
    async logged() {
      await log.flush()
      return lines.join('')
    },
    end: (user = 'ada') => runCommand(sessionsCommand, ['end', user], { environment: { SVC_HOME: home } }),
  }
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
const none = 'no service with sign-in runs on the home folder'

describe('the socket for commands', () => {
  test('ends sessions at all services of the home folder, and logs it', async () => {
    const { start, end, logged } = await scene()
    start(async (user) => user.length)
    const close = start(async () => 4)
    expect(await end()).toEqual({ code: 0, out: '7 sessions of ada ended\n', err: '' })
    await close()
    expect((await end()).out).toBe('3 sessions of ada ended\n')
    const line = '"message":"sessions ended by an owner","user":"ada","by":"command line","sessions":3'
    expect(await logged()).toContain(line)
  })

  test('passes on why nothing was ended', async () => {
    const { start, end } = await scene()
    const close = start()
    await expect(end()).rejects.toThrow('The service runs without sign-in')
    await close()
    const closeBroken = start(async () =>
      Promise.reject(new WireError(503, 'overloaded_error', 'x', 'The store is away')),
    )
    await expect(end()).rejects.toThrow('The store is away')
    await expect(end('a\nb')).rejects.toThrow("'user' must be a user name or id:VALUE.")
    await closeBroken()
    await expect(end()).rejects.toThrow(none)
  })

  test('is in a folder that only its user may enter', async () => {
    const { home, folder, start, end } = await scene()
    await chmod(home, 0o755)
    await mkdir(folder, { mode: 0o755 })
    start(async () => 1)
    const [name = ''] = await readdir(folder)
    expect([await modeOf(folder), await modeOf(join(folder, name))]).toEqual(['700', '600'])
    expect(await endAsOther(home)).toContain('run the command as the user of the service')
    expect((await end()).out).toBe('1 session of ada ended\n')
  })

  test.each([
    ['a file', (folder: string) => Bun.write(folder, '')],
    ['a link to a folder', (folder: string) => symlink(tmpdir(), folder)],
  ])('is not made where the folder is %s', async (_, occupy) => {
    const { folder, start, logged } = await scene()
    await occupy(folder)
    start(async () => 1)
    expect(await logged()).toContain('svc sessions end needs SVC_TOKEN')
  })

  test('is forgotten after its service was killed', async () => {
    const { folder, end } = await scene()
    await mkdir(folder)
    const unix = JSON.stringify(join(folder, 'killed.sock'))
    const script = `Bun.serve({ unix: ${unix}, fetch: () => new Response() }); process.kill(process.pid, 'SIGKILL')`
    await Bun.spawn([process.execPath, '-e', script]).exited
    expect(await readdir(folder)).toEqual(['killed.sock'])
    await expect(end()).rejects.toThrow(none)
    expect(await readdir(folder)).toEqual([])
  })
})

/** Runs the command as another user, or, without the right to become one, without the right to the folder. */
async function endAsOther(home: string): Promise<string> {
  const isRoot = process.getuid?.() === 0
  if (!isRoot) await chmod(join(home, 'run'), 0)
  const command = JSON.stringify(join(import.meta.dir, '..', 'cli', 'sessions.ts'))
  const script = `
    const { sessionsCommand } = await import(${command})
    if (${isRoot}) { process.setgid(65534); process.setuid(65534) }
    const context = { flags: {}, positionals: ['end', 'ada'], environment: { SVC_HOME: ${JSON.stringify(home)} } }
    await sessionsCommand.run({ ...context, stdout: { write: console.log }, signal: new AbortController().signal })
      .catch((error) => console.log(error.message))`
  const text = await Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' }).stdout.text()
  if (!isRoot) await chmod(join(home, 'run'), 0o700)
  return text
}
