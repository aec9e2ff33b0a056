import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { UsageError } from '../start-errors.ts'
import { booleanFlag, choiceFlag, integerFlag, namesFlag, parseArguments, repeatedFlag, textFlag } from './arguments.ts'

const flags = {
  host: textFlag('address', 'ADDRESS', { environment: 'SVC_HOST', fallback: '127.0.0.1' }),
  port: integerFlag('port', 'PORT', { environment: 'SVC_PORT', minimum: 0, maximum: 65_535, fallback: 8000 }),
  logLevel: choiceFlag('level', ['debug', 'info', 'warn'], { environment: 'SVC_LOG_LEVEL', fallback: 'info' }),
  model: textFlag('model', 'MODEL', { short: 'm' }),
  image: repeatedFlag('image', 'FILE', { environment: 'SVC_IMAGES' }),
  json: booleanFlag('json', { environment: 'SVC_JSON' }),
}
const defaults = { host: '127.0.0.1', port: 8000, logLevel: 'info' as const, model: undefined, image: [], json: false }

describe('parseArguments', () => {
  test.each([
    ['nothing', [], {}, []],
    ['--name value', ['--port', '9000'], { port: 9000 }, []],
    ['--name=value', ['--port=9000'], { port: 9000 }, []],
    ['a value with = in it', ['--host=a=b'], { host: 'a=b' }, []],
    ['-m value', ['-m', 'gpt-4o'], { model: 'gpt-4o' }, []],
    ['-m=value', ['-m=gpt-4o'], { model: 'gpt-4o' }, []],
    ['the last of two', ['--port', '1', '--port', '2'], { port: 2 }, []],
    ['a repeated flag', ['--image', 'a.png', '--image=b.png'], { image: ['a.png', 'b.png'] }, []],
    ['a boolean', ['--json'], { json: true }, []],
    ['a boolean with a value', ['--json=false'], { json: false }, []],
    ['a negated boolean', ['--json', '--no-json'], { json: false }, []],
    ['a boolean that does not eat what follows', ['--json', 'false'], { json: true }, ['false']],
    ['a choice', ['--log-level', 'warn'], { logLevel: 'warn' }, []],
    ['positionals among flags', ['one', '--port', '1', 'two'], { port: 1 }, ['one', 'two']],
    ['-- as the end of flags', ['--port', '1', '--', '--host', '-m'], { port: 1 }, ['--host', '-m']],
    ['- as a positional', ['-'], {}, ['-']],
    ['- as a value', ['--model', '-'], { model: '-' }, []],
    ['the least and greatest number', ['--port', '65535'], { port: 65_535 }, []],
    ['a value beginning with -, after =', ['--model=--x'], { model: '--x' }, []],
  ] as const)('understands %s', (_, argv, changed, positionals) => {
    expect(parseArguments(flags, argv)).toEqual({ flags: { ...defaults, ...changed }, positionals: [...positionals] })
  })

  test.each([
    [['--prot', '1'], 'unknown flag --prot: did you mean --port?'],
    [['--log_level=info'], 'unknown flag --log_level: did you mean --log-level?'],
    [['--halp'], 'unknown flag --halp: did you mean --help?'],
    [['--workers', '1'], 'unknown flag --workers'],
    [['-x'], 'unknown flag -x'],
    [['--no-port'], 'unknown flag --no-port: did you mean --port?'],
    [['--port'], '--port needs a value: --port PORT'],
    [['--port', '--host', 'x'], '--port needs a value: --port PORT'],
    [['--port', 'abc'], '--port: found abc, allowed: an integer from 0 to 65535'],
    [['--port', '65536'], '--port: found 65536, allowed: an integer from 0 to 65535'],
    [['--port', '-1'], '--port: found -1, allowed: an integer from 0 to 65535'],
    [['--port', '1.5'], '--port: found 1.5, allowed: an integer from 0 to 65535'],
    [['--port', '0x10'], '--port: found 0x10, allowed: an integer from 0 to 65535'],
    [['--port='], '--port: found "", allowed: an integer from 0 to 65535'],
    [['--log-level', 'dbug'], '--log-level: found dbug, allowed: debug, info, warn: did you mean debug?'],
    [['--json=maybe'], '--json: found maybe, allowed: true or false'],
    [['--no-json=true'], '--no-json takes no value'],
    [['--host='], '--host: found "", allowed: a text that is not empty'],
    [['--host\u001b[2J'], 'unknown flag "--host\\u001b[2J"'],
  ])('refuses %j', (argv, message) => {
    expect(() => parseArguments(flags, argv)).toThrow(new UsageError(message))
  })

  test('reads unset flags from the environment', () => {
    const environment = {
      SVC_PORT: '9000',
      SVC_HOST: '0.0.0.0',
      SVC_JSON: '1',
      SVC_IMAGES: 'a.png, b.png',
      SVC_LOG_LEVEL: '',
    }
    expect(parseArguments(flags, ['--host', '::1'], environment).flags).toEqual({
      ...defaults,
      port: 9000,
      host: '::1',
      json: true,
      image: ['a.png', 'b.png'],
    })
  })

  test('names the variable with a wrong value', () => {
    expect(() => parseArguments(flags, [], { SVC_PORT: 'http' })).toThrow(
      new UsageError('SVC_PORT: found http, allowed: an integer from 0 to 65535'),
    )
  })

  test('ignores a variable when its flag is set', () => {
    expect(parseArguments(flags, ['--port', '1'], { SVC_PORT: 'http' }).flags.port).toBe(1)
  })

  test('throws only UsageError, and keeps every value within its limits', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '--port',
        '--port=',
        '--host',
        '-m',
        '--',
        '--json',
        '--no-json',
        '--image',
        '--log-level',
        '--__proto__',
        '--constructor=1',
        '-',
        '--=',
        '=',
      ),
    )
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 8 }),
        fc.dictionary(fc.constantFrom('SVC_PORT', 'SVC_HOST', 'SVC_JSON', 'SVC_LOG_LEVEL'), fc.string()),
        (argv, environment) => {
          try {
            const { flags: values, positionals } = parseArguments(flags, argv, environment)
            expect(Number.isInteger(values.port) && values.port >= 0 && values.port <= 65_535).toBe(true)
            expect(['debug', 'info', 'warn']).toContain(values.logLevel)
            expect(Object.keys(values)).toEqual(Object.keys(flags))
            expect(positionals.every((each) => argv.includes(each))).toBe(true)
          } catch (error) {
            if (!(error instanceof UsageError)) throw error
            expect(error.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
          }
        },
      ),
    )
  })

  describe('of names', () => {
    const named = { auth: namesFlag('extensions', 'NAMES', { environment: 'SVC_AUTH' }) }

    test.each([
      [[], undefined, []],
      [['--auth', 'a'], undefined, ['a']],
      [['--auth', 'b,a'], undefined, ['b', 'a']],
      [['--auth', ' a , b '], undefined, ['a', 'b']],
      [['--auth', 'a,b', '--auth=c'], undefined, ['a', 'b', 'c']],
      [[], 'b, a', ['b', 'a']],
      [[], '', []],
      [['--auth', 'a'], 'b,c', ['a']],
    ])('understands %j, with %p in the environment', (argv, variable, names) => {
      expect(parseArguments(named, argv, { SVC_AUTH: variable }).flags.auth).toEqual(names)
    })

    test.each([
      [['--auth', 'a,,b'], undefined, '--auth: found "a,,b"'],
      [['--auth', 'a,'], undefined, '--auth: found "a,"'],
      [['--auth='], undefined, '--auth: found ""'],
      [['--auth', 'a,b,a'], undefined, '--auth: found "a,b,a"'],
      [['--auth', 'a', '--auth', 'a'], undefined, '--auth: found "a,a"'],
      [[], 'a,a', 'SVC_AUTH: found "a,a"'],
      [[], ',', 'SVC_AUTH: found ","'],
    ])('refuses %j, with %p in the environment', (argv, variable, found) => {
      expect(() => parseArguments(named, argv, { SVC_AUTH: variable })).toThrow(
        new UsageError(`${found}, allowed: names separated by commas, each once`),
      )
    })
  })

  test('returns every integer and text unchanged', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 65_535 }), fc.string({ minLength: 1 }), (port, model) => {
        expect(parseArguments(flags, [`--port=${port}`, `--model=${model}`]).flags).toMatchObject({ port, model })
      }),
    )
  })
})
