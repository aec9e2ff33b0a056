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
}

/** Somebody at the browser, with cookies of their own. */
export interface Person {
  /** The tab of this name. */
  tab(name?: string): Tab
  /** Values of the cookies they have, by name. */
  cookies(): Promise<ReadonlyMap<string, string>>
}

/** Chromium in a process of its own. */
export interface Chromium {
  /** Somebody who has been nowhere yet. */
  person(): Person
  close(): Promise<void>
}

/** Starts it without a window. @throws when it does not start */
export async function startChromium(executable: string): Promise<Chromium> {
  const child = Bun.spawn(['node', fileURLToPath(new URL('./chromium.mjs', import.meta.url)), executable], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let calls = 0, people = 0, complaints = ''

  function answered(line: string): void {
    const answer = parseJson(line), id = Number(pick(answer, 'id')), error = pick(answer, 'error')
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
    const id = ++calls, answer = expectAnswer(id)
    child.stdin.write(`${JSON.stringify({ id, person, tab, method, args })}\n`)
    child.stdin.flush()
    return answer
  }

  const ready = expectAnswer(0)
  const read = Promise.all([readLines(child.stdout, answered), readLines(child.stderr, (line) => { complaints += `${line}\n` })])
  void read.then(() => {
    for (const call of waiting.values()) call.reject(new Error(`chromium has ended:\n${complaints}`))
  })
  await ready

  function tabOf(person: number, name: string): Tab {
    const ask = (method: string, ...args: readonly unknown[]) => call(person, name, method, ...args)
    return {
      goto: async (url) => void await ask('goto', url),
      click: async (selector) => void await ask('click', selector),
      fill: async (selector, text) => void await ask('fill', selector, text),
      press: async (key) => void await ask('keyboard.press', key),
      type: async (text) => void await ask('keyboard.type', text),
      waitForUrl: async (glob) => void await ask('waitForURL', glob),
      waitFor: async (selector) => void await ask('waitForSelector', selector),
      url: async () => String(await ask('url')),
      text: async () => String(await ask('innerText', 'body')),
      evaluate: (expression) => ask('evaluate', expression),
    }
  }

  return {
    person() {
      const person = ++people
      return {
        tab: (name = 'first') => tabOf(person, name),
        async cookies() {
          const kept = await call(person, '', 'cookies')
          return new Map(Array.isArray(kept) ? kept.map((cookie) => [String(pick(cookie, 'name')), String(pick(cookie, 'value'))]) : [])
        },
      }
    },
    async close() {
      process.removeListener('exit', kill)
      child.stdin.end()
      await child.exited
      await read
    },
  }
}
