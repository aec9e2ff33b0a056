/** The pickers on the page, the latest last, and a way to open one. */
export interface PickerOpening {
  /** Opens the picker that came last. Returns whether there is one. */
  open(): boolean
  /** A picker that can be opened from now on. Returns how to take it away. */
  add(open: () => void): () => void
}

/** No pickers yet. */
export function pickerOpening(): PickerOpening {
  const pickers: (() => void)[] = []
  return {
    open() {
      const last = pickers.at(-1)
      last?.()
      return last !== undefined
    },
    add(open) {
      pickers.push(open)
      return () => void pickers.splice(pickers.lastIndexOf(open), 1)
    },
  }
}

/** Those of this page. */
export const pagePickers = pickerOpening()

/** Opens the model picker, for a shortcut. Returns whether there is one in view. */
export function openModelPicker(): boolean {
  return pagePickers.open()
}
