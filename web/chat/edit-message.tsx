import { useId, useState, type ReactNode } from 'react'
import { FileStrip } from '../files/lazy-file-strip.tsx'
import type { Draft, UserMessage } from '../history/conversation.ts'
import { ImageStrip } from '../images/lazy-image-strip.tsx'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { isComposing } from '../ui/is-composing.ts'
import { GrowingText } from './growing-text.tsx'
import { isSendKey } from './send-key.ts'

export interface EditMessageProps {
  readonly message: UserMessage
  readonly onSend: (draft: Draft) => void
  readonly onCancel: () => void
}

/** The editor of a sent message. Sending adds a version of it. */
export function EditMessage({ message, onSend, onCancel }: EditMessageProps): ReactNode {
  const id = useId()
  const [text, setText] = useState(message.text)
  const [images, setImages] = useState(message.images)
  const [files, setFiles] = useState(message.files ?? [])
  const isEmpty = text.trim() === '' && images.length === 0 && files.length === 0

  function send(): void {
    if (!isEmpty) onSend({ text, images, files })
  }

  return (
    <form
      className="rounded-2xl border border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label htmlFor={id} className="text-sm text-muted">
        {say.chat.editYours}
      </label>
      {images.length === 0 ? null : (
        <div className="mt-2">
          <ImageStrip
            images={images}
            onRemove={(removed) => setImages(images.filter((image) => image.id !== removed))}
          />
        </div>
      )}
      <FileStrip files={files} onRemove={(removed) => setFiles(files.filter((file) => file.id !== removed))} />
      <GrowingText
        id={id}
        value={text}
        onChange={setText}
        hasFocus
        onKeyDown={(event) => {
          if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
            event.preventDefault()
            onCancel()
          }
          if (!isSendKey(event.nativeEvent)) return
          event.preventDefault()
          send()
        }}
        className="mt-2 rounded-lg border border-muted bg-page px-3 py-2"
      />
      <div className="mt-2 flex justify-end gap-2">
        <Button onClick={onCancel}>{say.common.cancel}</Button>
        <Button type="submit" variant="primary" disabled={isEmpty}>
          {say.common.send}
        </Button>
      </div>
    </form>
  )
}
