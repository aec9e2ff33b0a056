import type { ReactNode } from 'react'
import { lazily } from '../ui/lazily.tsx'
import type { ImageStripProps } from './image-strip.tsx'

const LoadedStrip = lazily(async () => (await import('./image-strip.tsx')).ImageStrip, {
  waiting: <div className="h-20" />,
})

/** Pictures in a row, loaded with the first of them. */
export function ImageStrip(props: ImageStripProps): ReactNode {
  return props.images.length === 0 ? null : <LoadedStrip {...props} />
}
