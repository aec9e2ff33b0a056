/** Something that is opened at its first use. */
export interface OpenedOnce<Opened> {
  /** A failure is not kept: the next call tries again, since the cause may be mended. */
  open(): Promise<Opened>
  /** `undefined`: it is not open. */
  opened(): Promise<Opened | undefined>
}

/** Opens something once for all that use it. */
export function openOnce<Opened>(open: () => Promise<Opened>): OpenedOnce<Opened> {
  let opening: Promise<Opened> | undefined

  async function attempt(): Promise<Opened> {
    try {
      return await open()
    } catch (error) {
      opening = undefined
      throw error
    }
  }

  return {
    open: () => (opening ??= attempt()),
    opened: async () => await opening?.catch(() => undefined),
  }
}
