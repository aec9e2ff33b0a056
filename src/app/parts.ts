import { withinMs } from '../service/within.ts'

type Close = () => unknown

/** A part that does not close must not hide for long why a start failed. */
const failedCloseMs = 5_000

/** Parts that have started, by their names. */
export interface StartedParts<Parts> {
  readonly parts: Parts
  /** Closes the parts in reverse, one after the other. @throws the first error, when all are closed */
  close(): Promise<void>
}

/**
 * The parts of a service in one list: each starts after those before it, which it names as its needs, and all are
 * closed in reverse. If a start fails, the parts before it are closed.
 */
export class PartList<Given extends object, Parts extends object> {
  readonly #start: (given: Given, closes: Close[]) => Promise<Parts>

  private constructor(start: (given: Given, closes: Close[]) => Promise<Parts>) {
    this.#start = start
  }

  /** A list without parts. What is given counts as started, and is not closed. */
  static of<Given extends object>(): PartList<Given, Given> {
    return new PartList(async (given) => given)
  }

  /**
   * The list with one more entry.
   *
   * @param start makes the parts of the entry, by their names, of those before it
   * @param close ends what `start` began
   */
  add<Made extends object>(
    start: (needs: Parts) => Made | Promise<Made>,
    close?: (parts: Parts & Made) => unknown,
  ): PartList<Given, Parts & Made> {
    return new PartList(async (given: Given, closes: Close[]) => {
      const before = await this.#start(given, closes)
      const parts = { ...before, ...(await start(before)) }
      if (close !== undefined) closes.push(() => close(parts))
      return parts
    })
  }

  /** Starts the parts. @throws the error of the start that failed, when the parts before it are closed */
  async start(given: Given): Promise<StartedParts<Parts>> {
    const closes: Close[] = []
    try {
      const parts = await this.#start(given, closes)
      return { parts, close: () => closeAll(closes) }
    } catch (error) {
      // The cause of the failed start says more than its consequences.
      await withinMs(closeAll(closes), failedCloseMs).catch(() => undefined)
      throw error
    }
  }
}

async function closeAll(closes: Close[]): Promise<void> {
  const errors: unknown[] = []
  for (let close = closes.pop(); close !== undefined; close = closes.pop()) {
    try {
      await close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
