/** Registry of the mounted model pickers. */
export interface PickerRegistry {
  /** Opens the picker registered last. Returns whether there is one. */
  open(): boolean
  /** Registers a picker. Returns a function that removes it. */
  add(open: () => void): () => void
}

/** Creates an empty registry. */
export function pickerRegistry(): PickerRegistry {
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

/** The page's registry. */
export const pagePickers = pickerRegistry()

/** Opens the page's model picker. Returns whether one is mounted. */
export function openModelPicker(): boolean {
  return pagePickers.open()
}
