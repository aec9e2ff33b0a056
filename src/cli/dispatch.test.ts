import { describe, expect, test } from 'bun:test'
import { booleanFlag, textFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandEntry } from '../base/command-line/command.ts'
import { ConfigError } from '../config/config.ts'
import { dispatch } from './dispatch.ts'
import { capturedContext } from './testing.ts'

function fake(name: string, run: Command['run'], extra: Partial<Command> = {}): CommandEntry {
  const flags = {
    model: textFlag('the model', 'MODEL', { short: 'm', environment: 'SVC_MODEL' }),
    json: booleanFlag('print JSON'),
  }
  return {
    name,
    load: async () => ({
      name,
      summary: `does ${name}`,
      flags,
      examples: [{ command: `svc ${name} -m x`, does: 'an example' }],
      run,
      ...extra,
    }),
  }
}

const commands: readonly CommandEntry[] = [
  fake('serve', async () => 0),
  fake('check', async () => 1),
  fake(
    'chat',
    async ({ flags, positionals, stdout }) => {
      stdout.write(JSON.stringify([flags, positionals]))
      return 0
    },
    {
      arguments: { usage: '[QUESTION…]', summary: 'what to ask', maximum: 2 },
      exitCodes: { 130: 'stopped by Ctrl-C' },
    },
  ),
  fake('broken', async () => {
    throw new Error('it broke\u001b[2J')
  }),
  fake('misconfigured', async () => {
    throw new ConfigError([
      { file: 'p.json', line: 3, column: 2, field: 'providers[0].id', found: '7', allowed: 'a string' },
      { file: 'p.json', field: '', found: 'x', allowed: 'y' },
    ])
  }),
]

async function run(...argv: string[]) {
  const context = capturedContext()
  const code = await dispatch(argv, commands, '1.2.3', context)
  return { code, out: context.stdout.text, err: context.stderr.text }
}

describe('dispatch', () => {
  test('runs the first command when none is named', async () => {
    expect(await run()).toEqual({ code: 0, out: '', err: '' })
    expect(await run('--json')).toEqual({ code: 0, out: '', err: '' })
  })

  test('passes flags and positionals to the command, and returns its exit code', async () => {
    expect((await run('chat', 'why', '-m', 'x', 'so')).out).toBe('[{"model":"x","json":false},["why","so"]]')
    expect((await run('check')).code).toBe(1)
  })

  test.each(['--version', '-v'])('prints the version for %s', async (flag) => {
    expect(await run(flag)).toEqual({ code: 0, out: 'svc 1.2.3\n', err: '' })
  })

  test.each([['--help'], ['-h'], ['help']])('prints the commands for %s', async (flag) => {
    const { code, out } = await run(flag)
    expect(code).toBe(0)
    expect(out).toContain('  serve          does serve (when no command is named)\n  check          does check\n')
  })

  test.each([[['chat', '--help']], [['chat', '-m', 'x', '-h']], [['help', 'chat']]])(
    'prints the flags of a command for %j',
    async (argv) => {
      const { code, out } = await run(...argv)
      expect(code).toBe(0)
      expect(out).toBe(`svc chat: does chat

Usage: svc chat [flags] [QUESTION…]

Arguments:
  [QUESTION…]  what to ask

Flags:
  -m, --model MODEL  the model (environment: SVC_MODEL)
  --json             print JSON
  -h, --help         print this help

Exit codes:
  0    done
  1    failed
  2    wrong usage or configuration
  130  stopped by Ctrl-C

Examples:
  svc chat -m x
    an example
`)
    },
  )

  test('treats --help after -- as a positional', async () => {
    expect((await run('chat', '--', '--help')).out).toContain('["--help"]')
  })

  test.each([
    [['chta'], 'svc: unknown command chta: did you mean chat?\n'],
    [['frobnicate'], 'svc: unknown command frobnicate: the commands are serve, check, chat, broken, misconfigured\n'],
    [['help', 'chekc'], 'svc: unknown command chekc: did you mean check?\n'],
    [
      ['chat', '--modle', 'x'],
      "svc: unknown flag --modle: did you mean --model?\n'svc chat --help' lists its flags.\n",
    ],
    [['check', 'extra'], "svc: unexpected argument extra\n'svc check --help' lists its flags.\n"],
    [['chat', 'a', 'b', 'c'], "svc: unexpected argument c\n'svc chat --help' lists its flags.\n"],
    [['--json', 'check'], "svc: the command must be first: svc check …\n'svc serve --help' lists its flags.\n"],
  ])('exits with 2 for %j', async (argv, err) => {
    expect(await run(...argv)).toEqual({ code: 2, out: '', err })
  })

  test('prints all faults of a configuration and exits with 2', async () => {
    expect(await run('misconfigured')).toEqual({
      code: 2,
      out: '',
      err: 'p.json:3:2: providers[0].id: found 7, allowed: a string\np.json: found x, allowed: y\n',
    })
  })

  test('prints an error on one escaped line and exits with 1', async () => {
    expect(await run('broken')).toEqual({ code: 1, out: '', err: 'svc: it broke\\u001b[2J\n' })
  })

  test('adds the stack at log level debug', async () => {
    const context = capturedContext({ environment: { SVC_LOG_LEVEL: 'debug' } })
    expect(await dispatch(['broken'], commands, '1', context)).toBe(1)
    expect(context.stderr.text).toContain('dispatch.test.ts')
  })
})
