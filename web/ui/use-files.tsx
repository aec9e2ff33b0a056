import { useRef, type ReactNode } from 'react'

/** The kind of files that this page exports. */
export const jsonFiles = '.json,application/json'

/**
 * Lets the person choose files of the computer.
 *
 * @param onFiles gets the chosen files; none if the dialog is cancelled
 * @param accept kinds of files, of which one can be chosen; absent: several of any kind
 * @returns the hidden field, which has to be rendered, and a function that opens the dialog
 */
export function useFiles(
  label: string,
  onFiles: (files: readonly File[]) => void,
  accept?: string,
): readonly [field: ReactNode, open: () => void] {
  const field = useRef<HTMLInputElement>(null)
  return [
    <input
      ref={field}
      type="file"
      accept={accept}
      multiple={accept === undefined}
      hidden
      aria-label={label}
      onChange={({ target }) => {
        const files = [...(target.files ?? [])]
        // Allows choosing the same file again.
        target.value = ''
        onFiles(files)
      }}
    />,
    () => field.current?.click(),
  ]
}
