import { afterAll, beforeAll, beforeEach, describe } from 'bun:test'
import { startChromium, type Chromium, type Person, type PersonOptions, type Tab } from '../fakes/chromium.ts'
import { needs } from '../needs.ts'

const executables = {
  chromium: needs('chromium'),
  'chromium-headless-shell': needs('chromium-headless-shell'),
} as const

/** A window of desktop size. */
export const wide: PersonOptions = { viewport: { width: 1280, height: 800 } }

/** Environment of a test of the page. */
export interface Scene<Rig> {
  /** Service and upstreams, shared by all tests. */
  readonly rig: Rig
  /** A person without cookies, new for every test. */
  readonly person: Person
  /** Their first tab. */
  readonly tab: Tab
}

/** `describe`, skipped on machines without Chromium. */
export const describeInChromium = describe.skipIf(executables.chromium === undefined)

/** Browsers of this process, by executable. They end with it, or when bun kills them after a test that timed out. */
const running = new Map<string, Chromium>()

/** Starts Chromium, unless it runs: files of tests that run in one process share it. */
async function sharedChromium(executable: string): Promise<Chromium> {
  const known = running.get(executable)
  if (known !== undefined) return known
  const chromium = await startChromium(executable)
  running.set(executable, chromium)
  void chromium.ended.then(() => running.delete(executable))
  return chromium
}

/**
 * Gives Chromium to the tests of a file. Before each test, and after the last, all tabs are closed, because open tabs
 * take CPU time.
 *
 * @param form the whole browser takes three times the CPU time of the headless shell
 */
export function useChromium(form: keyof typeof executables = 'chromium-headless-shell'): Pick<Chromium, 'person'> {
  const executable = executables[form]
  let chromium: Chromium | undefined
  if (executable !== undefined) {
    beforeAll(async () => {
      chromium = await sharedChromium(executable)
    })
    afterAll(() => chromium?.empty())
    beforeEach(() => chromium?.empty())
  }
  return {
    person(options) {
      if (chromium === undefined)
        throw new Error('there is no Chromium yet, or none on this machine: tests of it are in describeInChromium')
      return chromium.person(options)
    },
  }
}

/** Options of {@link inChromium}. */
export interface ChromiumOptions {
  readonly look?: PersonOptions
  /** Default: the default of {@link useChromium}. */
  readonly form?: keyof typeof executables
}

/**
 * Gives Chromium and the result of `start` to the tests of a file or a `describe`. `start` is called once, and its
 * result disposed of after the last test. `enter` is called before every test.
 *
 *     let rig: Rig, tab: Tab
 *     inChromium(
 *       () => startRig([good()]),
 *       (scene) => ({ rig, tab } = scene),
 *     )
 */
export function inChromium<Rig extends AsyncDisposable>(
  start: () => Promise<Rig>,
  enter: (scene: Scene<Rig>) => unknown,
  { look = wide, form }: ChromiumOptions = {},
): void {
  if (executables.chromium === undefined) return
  const chromium = useChromium(form)
  let rig: Rig
  beforeAll(async () => {
    rig = await start()
  })
  afterAll(() => rig[Symbol.asyncDispose]())
  beforeEach(async () => {
    const person = chromium.person(look)
    await enter({ rig, person, tab: person.tab() })
  })
}
