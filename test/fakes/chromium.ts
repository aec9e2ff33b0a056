import { fileURLToPath } from 'node:url'
import { parseJson, pick } from '../client.ts'
import { readLines } from '../lines.ts'

/** A tab of a real browser. Selectors are those of Playwright; every method rejects after ten seconds. */
export interface Tab {
  goto(url: string): Promise<void>
  click(selector: string): Promise<void>
  fill(selector: string, text: string): Promise<void>
  /** Presses a key at the focused element. */
  press(key: string): Promise<void>
  type(text: string): Promise<void>
  /** Waits until the address matches. */
  waitForUrl(glob: string): Promise<void>
  /** Address of the page. */
  url(): Promise<string>
  /** Visible text of the page. */
  text(): Promise<string>
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>
  waitFor(selector: string): Promise<void>
  /** Waits until an expression holds in the page. @throws with the text of the page after eight seconds */
  until(expression: string): Promise<void>
  /** Waits until no visible element matches. */
  waitForGone(selector: string): Promise<void>
  /** Visible text of an element. */
  textOf(selector: string): Promise<string>
  /** Chooses an option of a `<select>`, by its value. */
  select(selector: string, value: string): Promise<void>
  reload(): Promise<void>
  /** Closes the tab as users do. */
  close(): Promise<void>
  /** Goes back, as with the button of the browser. */
  back(): Promise<void>
  /** Clicks an element that downloads a file, and reads the file. */
  download(selector: string): Promise<{ readonly name: string; readonly text: string }>
  /** Gives files to an `<input type="file">`, by their paths. */
  setFiles(selector: string, paths: readonly string[]): Promise<void>
  /** Drops files, by their paths, on the middle of an element, as from the desktop. */
  dropFiles(selector: string, paths: readonly string[]): Promise<void>
  /** Drags an element with the mouse to the lower part of another one. */
  drag(from: string, to: string): Promise<void>
  setSize(width: number, height: number): Promise<void>
  /** Switches to the style for print, or back. */
  setMedia(media: 'print' | 'screen'): Promise<void>
  /** Writes a picture of the visible page, as PNG. */
  screenshot(path: string): Promise<void>
  /** Limits the speed of its network. */
  setSpeed(speed: { readonly latencyMs: number; readonly bytesPerSecond: number }): Promise<void>
  /** Errors of the console so far, with violations of the Content-Security-Policy, and texts of script dialogs. */
  complaints(): Promise<readonly string[]>
}

/** Options of a person's browser. */
export interface PersonOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce' | 'no-preference'
  readonly forcedColors?: 'active'
  readonly hasTouch?: boolean
  readonly locale?: string
  readonly permissions?: readonly string[]
  readonly serviceWorkers?: 'block'
}

/** A user of the browser, with separate cookies. */
export interface Person {
  /** The tab with this name. */
  tab(name?: string): Tab
  /** Cookies: name → value. */
  cookies(): Promise<ReadonlyMap<string, string>>
  /** Sets a cookie, without a page that sets it. */
  setCookie(url: string, name: string, value: string): Promise<void>
  /** Deletes all cookies, with those of identity providers. Other storage of pages stays. */
  forgetCookies(): Promise<void>
  /** Disconnects the network, or connects it again. */
  setOffline(isOffline: boolean): Promise<void>
  /** Makes requests to matching addresses fail, as if the connection were refused. */
  refuse(glob: string): Promise<void>
  /** Leaves requests to matching addresses without an answer. */
  hold(glob: string): Promise<void>
  /** Answers requests to matching addresses with this. */
  answer(glob: string, answer: { readonly contentType: string; readonly body: string }): Promise<void>
  /** Undoes {@link Person.refuse}, {@link Person.hold} and {@link Person.answer}. */
  admit(glob: string): Promise<void>
  /** All requested addresses so far, of all tabs and windows of this person. */
  asked(): Promise<readonly string[]>
}

/** A running Chromium. */
export interface Chromium {
  /** A new person, without cookies. */
  person(options?: PersonOptions): Person
  /** Closes the tabs of all persons so far. */
  empty(): Promise<void>
  close(): Promise<void>
  /** Settles when it has ended. */
  readonly ended: Promise<unknown>
}

const untilMs = 8_000

/** Script of a promise that polls an expression. The page's policy forbids Playwright's own polling. */
function polling(expression: string): string {
  return `new Promise((resolve, reject) => {
    const began = performance.now()
    const look = () => {
      if (${expression}) resolve(true)
      else if (performance.now() - began < ${untilMs}) setTimeout(look, 20)
      else reject(new Error('in vain: ' + document.body.innerText))
    }
    look()
  })`
}

/** Starts Chromium without a window. @throws when it does not start */
export async function startChromium(executable: string): Promise<Chromium> {
  const child = Bun.spawn(['node', fileURLToPath(new URL('./chromium.mjs', import.meta.url)), executable], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  // On SIGTERM it closes Chromium, which removes its files.
  const kill = () => child.kill('SIGTERM')
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
    void child.stdin.write(`${JSON.stringify({ id, person, tab, method, args })}\n`)
    void child.stdin.flush()
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
      until: async (expression) => void (await ask('evaluate', polling(expression))),
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
      dropFiles: async (selector, paths) => void (await ask('dropFiles', selector, paths)),
      drag: async (from, to) => void (await ask('drag', from, to)),
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
        setCookie: async (url, name, value) => void (await call(person, '', 'setCookie', { url, name, value })),
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
    ended: read,
    async close() {
      process.removeListener('exit', kill)
      void child.stdin.end()
      await child.exited
      await read
    },
  }
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
