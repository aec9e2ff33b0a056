import type { ReactNode } from 'react'
import { lazily } from '../ui/lazily.tsx'
import type { ImageStripProps } from './image-strip.tsx'

const LoadedStrip = lazily(async () => (await import('./image-strip.tsx')).ImageStrip, {
  placeholder: <div className="h-20" />,
})

/** A row of images, whose chunk loads with the first of them. */
export function ImageStrip(props: ImageStripProps): ReactNode {
  return props.images.length === 0 ? null : <LoadedStrip {...props} />
}
