import { useState, type ReactNode } from 'react'
import type { ImageAttachment } from '../history/conversation.ts'
import { say } from '../texts/say.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'

export interface ImageStripProps {
  readonly images: readonly ImageAttachment[]
  /** Absent if images cannot be removed. */
  readonly onRemove?: (id: string) => void
}

/** A row of small images. Each can be enlarged, and removed if `onRemove` is given. */
export function ImageStrip({ images, onRemove }: ImageStripProps): ReactNode {
  const [shown, setShown] = useState<string>()
  const large = images.find(({ id }) => id === shown)
  if (images.length === 0) return null
  return (
    <>
      <ul aria-label={say.common.pictures} className="flex flex-wrap gap-3">
        {images.map((image) => (
          <li key={image.id} className="relative">
            <button
              type="button"
              title={image.name}
              onClick={() => setShown(image.id)}
              className="block overflow-hidden rounded-lg border border-line bg-panel"
            >
              <span className="sr-only">{say.common.show}</span>
              <img src={sourceOf(image)} alt={image.name} width={80} height={80} className="size-20 object-cover" />
            </button>
            {onRemove === undefined ? null : (
              <button
                type="button"
                aria-label={say.common.remove(image.name)}
                title={say.common.remove(image.name)}
                onClick={() => onRemove(image.id)}
                className={
                  'absolute -top-2 -right-2 inline-flex size-7 items-center justify-center rounded-full border ' +
                  'border-line bg-raised before:absolute z-1 hover:bg-hover pointer-coarse:before:-inset-2'
                }
              >
                <Icon name="close" className="size-4" />
              </button>
            )}
          </li>
        ))}
      </ul>
      <Dialog
        title={large?.name ?? say.images.picture}
        isOpen={large !== undefined}
        onClose={() => setShown(undefined)}
        size="lg"
      >
        {large === undefined ? null : (
          <figure className="flex flex-col items-center gap-2">
            <img
              src={sourceOf(large)}
              alt={large.name}
              width={large.width}
              height={large.height}
              className="h-auto max-h-[70dvh] w-auto max-w-full object-contain"
            />
            <figcaption className="text-xs text-muted">
              {large.width} × {large.height}
            </figcaption>
          </figure>
        )}
      </Dialog>
    </>
  )
}

/** Loads data URLs of images only, and no address from an imported file. */
function sourceOf({ dataUrl }: ImageAttachment): string | undefined {
  return /^data:image\/(?:png|jpeg|webp|gif|avif);base64,/.test(dataUrl.slice(0, 40)) ? dataUrl : undefined
}
