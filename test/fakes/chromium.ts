import { fileURLToPath } from 'node:url'
import { parseJson, pick } from '../client.ts'
import { readLines } from '../lines.ts'

/** A tab of a real browser. Selectors are those of Playwright; every method rejects after ten seconds in vain. */
export interface Tab {
  goto(url: string): Promise<void>
  click(selector: string): Promise<void>
  fill(selector: string, text: string): Promise<void>
  /** A key, wherever the focus is. */
  press(key: string): Promise<void>
  type(text: string): Promise<void>
  /** Waits until the address matches. */
  waitForUrl(glob: string): Promise<void>
  /** What the address bar shows. */
  url(): Promise<string>
  /** What a person reads. */
  text(): Promise<string>
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>
  waitFor(selector: string): Promise<void>
  /**
   * Resolves when an expression holds in the page. @throws with what the page reads, when it does not within eight
   * seconds
   */
  until(expression: string): Promise<void>
  /** Waits until nothing matches that can be seen. */
  waitForGone(selector: string): Promise<void>
  /** What an element reads. */
  textOf(selector: string): Promise<string>
  /** Chooses an option of a `<select>`, by its value. */
  select(selector: string, value: string): Promise<void>
  reload(): Promise<void>
  /** Closes it, as people close tabs. */
  close(): Promise<void>
  /** As the browser's own button. */
  back(): Promise<void>
  /** Clicks what gives a file, and reads it. */
  download(selector: string): Promise<{ readonly name: string; readonly text: string }>
  /** Gives files to an `<input type="file">`, by their paths. */
  setFiles(selector: string, paths: readonly string[]): Promise<void>
  setSize(width: number, height: number): Promise<void>
  /** Shows it as on paper, or on a screen again. */
  setMedia(media: 'print' | 'screen'): Promise<void>
  /** Writes a picture of what is shown, as PNG. */
  screenshot(path: string): Promise<void>
  /** What it loads from now on comes this slowly. */
  setSpeed(speed: { readonly latencyMs: number; readonly bytesPerSecond: number }): Promise<void>
  /**
   * What the console was told of as errors so far, violations of the Content-Security-Policy among them, and what
   * dialogs of scripts said.
   */
  complaints(): Promise<readonly string[]>
}

/** What somebody's browser is like. */
export interface PersonOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce' | 'no-preference'
  readonly hasTouch?: boolean
  readonly permissions?: readonly string[]
  readonly serviceWorkers?: 'block'
}

/** Somebody at the browser, with cookies of their own. */
export interface Person {
  /** The tab of this name. */
  tab(name?: string): Tab
  /** Values of the cookies they have, by name. */
  cookies(): Promise<ReadonlyMap<string, string>>
  /** Forgets all cookies, those of identity providers among them; what pages keep otherwise stays. */
  forgetCookies(): Promise<void>
  /** Takes their network away, or gives it back. */
  setOffline(isOffline: boolean): Promise<void>
  /** Requests to addresses that match fail from now on, as if there were nobody. */
  refuse(glob: string): Promise<void>
  /** Requests to addresses that match are not answered from now on. */
  hold(glob: string): Promise<void>
  /** Requests to addresses that match are answered with this from now on. */
  answer(glob: string, answer: { readonly contentType: string; readonly body: string }): Promise<void>
  /** Takes {@link Person.refuse}, {@link Person.hold} and {@link Person.answer} back. */
  admit(glob: string): Promise<void>
  /** Every address that was asked for so far, by whatever tab or window of theirs. */
  asked(): Promise<readonly string[]>
}

/** Chromium in a process of its own. */
export interface Chromium {
  /** Somebody who has been nowhere yet. */
  person(options?: PersonOptions): Person
  /** Everybody so far leaves: their tabs are closed. */
  empty(): Promise<void>
  close(): Promise<void>
}

const untilMs = 8_000

/** A promise that looks again and again: what the page's policy allows to evaluate, it does at once or never. */
function looking(expression: string): string {
  return `new Promise((resolve, reject) => {
    const began = performance.now()
    const look = () => (${expression}) ? resolve(true) : performance.now() - began > ${untilMs} ? reject(new Error('in vain: ' + document.body.innerText)) : setTimeout(look, 20)
    look()
  })`
}

/** Starts it without a window. @throws when it does not start */
export async function startChromium(executable: string): Promise<Chromium> {
  const child = Bun.spawn(['node', fileURLToPath(new URL('./chromium.mjs', import.meta.url)), executable], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let calls = 0,
    people = 0,
    complaints = ''

  function answered(line: string): void {
    const answer = parseJson(line),
      id = Number(pick(answer, 'id')),
      error = pick(answer, 'error')
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(pick(answer, 'value'))
    else call?.reject(new Error(String(error)))
  }

  function expectAnswer(id: number): Promise<unknown> {
    const call = Promise.withResolvers<unknown>()
    waiting.set(id, call)
    return call.promise
  }

  function call(person: number, tab: string, method: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = ++calls,
      answer = expectAnswer(id)
    child.stdin.write(`${JSON.stringify({ id, person, tab, method, args })}\n`)
    child.stdin.flush()
    return answer
  }

  const ready = expectAnswer(0)
  const read = Promise.all([
    readLines(child.stdout, answered),
    readLines(child.stderr, (line) => {
      complaints += `${line}\n`
    }),
  ])
  void read.then(() => {
    for (const call of waiting.values()) call.reject(new Error(`chromium has ended:\n${complaints}`))
  })
  await ready

  function tabOf(person: number, name: string): Tab {
    const ask = (method: string, ...args: readonly unknown[]) => call(person, name, method, ...args)
    return {
      goto: async (url) => void (await ask('goto', url)),
      click: async (selector) => void (await ask('click', selector)),
      fill: async (selector, text) => void (await ask('fill', selector, text)),
      press: async (key) => void (await ask('keyboard.press', key)),
      type: async (text) => void (await ask('keyboard.type', text)),
      waitForUrl: async (glob) => void (await ask('waitForURL', glob)),
      until: async (expression) => void (await ask('evaluate', looking(expression))),
      waitFor: async (selector) => void (await ask('waitForSelector', selector)),
      waitForGone: async (selector) => void (await ask('waitForSelector', selector, { state: 'hidden' })),
      textOf: async (selector) => String(await ask('innerText', selector)),
      select: async (selector, value) => void (await ask('selectOption', selector, value)),
      reload: async () => void (await ask('reload')),
      close: async () => void (await ask('close')),
      back: async () => void (await ask('goBack')),
      async download(selector) {
        const saved = await ask('download', selector)
        return { name: String(pick(saved, 'name')), text: String(pick(saved, 'text')) }
      },
      setFiles: async (selector, paths) => void (await ask('setInputFiles', selector, paths)),
      setSize: async (width, height) => void (await ask('setViewportSize', { width, height })),
      setMedia: async (media) => void (await ask('emulateMedia', { media })),
      screenshot: async (path) => void (await ask('screenshot', { path })),
      setSpeed: async (speed) => void (await ask('setSpeed', speed)),
      complaints: async () => textsOf(await ask('complaints')),
      url: async () => String(await ask('url')),
      text: async () => String(await ask('innerText', 'body')),
      evaluate: (expression) => ask('evaluate', expression),
    }
  }

  return {
    person(options) {
      const person = ++people
      if (options !== undefined) void call(person, '', 'begin', options)
      return {
        forgetCookies: async () => void (await call(person, '', 'forgetCookies')),
        setOffline: async (isOffline) => void (await call(person, '', 'setOffline', isOffline)),
        refuse: async (glob) => void (await call(person, '', 'refuse', glob)),
        hold: async (glob) => void (await call(person, '', 'hold', glob)),
        answer: async (glob, answer) => void (await call(person, '', 'answer', glob, answer)),
        admit: async (glob) => void (await call(person, '', 'admit', glob)),
        asked: async () => textsOf(await call(person, '', 'asked')),
        tab: (name = 'first') => tabOf(person, name),
        async cookies() {
          const kept = await call(person, '', 'cookies')
          return new Map(
            Array.isArray(kept)
              ? kept.map((cookie) => [String(pick(cookie, 'name')), String(pick(cookie, 'value'))])
              : [],
          )
        },
      }
    },
    empty: async () => void (await call(0, '', 'leave')),
    async close() {
      process.removeListener('exit', kill)
      child.stdin.end()
      await child.exited
      await read
    },
  }
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
