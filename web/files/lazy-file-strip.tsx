import type { ReactNode } from 'react'
import { lazily } from '../ui/lazily.tsx'
import type { FileStripProps } from './file-strip.tsx'

const LoadedStrip = lazily(async () => (await import('./file-strip.tsx')).FileStrip, {
  placeholder: <div className="h-9" />,
})

/** A row of files, whose chunk loads with the first of them. */
export function FileStrip({
  files = [],
  ...rest
}: Omit<FileStripProps, 'files'> & { readonly files: FileStripProps['files'] | undefined }): ReactNode {
  return files.length === 0 ? null : <LoadedStrip files={files} {...rest} />
}
