import { useState, type ClipboardEvent, type KeyboardEvent, type ReactNode } from 'react'
import { FileStrip } from '../files/lazy-file-strip.tsx'
import type { ChatSettings, Draft } from '../history/conversation.ts'
import { ImageStrip } from '../images/lazy-image-strip.tsx'
import { say } from '../texts/say.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { isComposing } from '../ui/is-composing.ts'
import { lazily } from '../ui/lazily.tsx'
import { useFiles } from '../ui/use-files.tsx'
import { canDictate } from '../voice/reading.ts'
import { GrowingText } from './growing-text.tsx'
import { isSendKey } from './send-key.ts'
import type { MessageField } from './use-message-field.ts'

const BetterModel = lazily(async () => (await import('../files/better-model.tsx')).BetterModel, { failed: () => null })
const RefusedFiles = lazily(async () => (await import('./chat-tools.ts')).RefusedFiles)
const PresetList = lazily(async () => (await import('../presets/presets-page.ts')).PresetList, { failed: () => null })
const Dictation = lazily(async () => (await import('../voice/dictation.tsx')).Dictation)

export interface ComposerProps {
  readonly entry: MessageField
  readonly onSend: () => void
  readonly onStop: () => void
  /** Called on ArrowUp in an empty field. */
  readonly onEditLast: () => void
  readonly isAnswering: boolean
  /** Why nothing can be sent; absent if sending is possible. */
  readonly blockedReason: string | undefined
  readonly model?: string | undefined
  /** Called with a model that takes what is attached. Absent: none is offered. */
  readonly onModel?: (name: string) => void
  /** Called with the settings of a preset. */
  readonly onSettings: (settings: Partial<ChatSettings>) => void
}

/** The form for a message. */
export function Composer({
  entry: { drafts, attachments, field },
  onSend,
  onStop,
  onEditLast,
  isAnswering,
  blockedReason,
  model,
  onModel,
  onSettings,
}: ComposerProps): ReactNode {
  const { draft, change } = drafts
  const [dictation, setDictation] = useState<{ readonly isOn: boolean; readonly fault?: string | undefined }>(silent)
  const canSend =
    !isAnswering &&
    blockedReason === undefined &&
    attachments.reading === undefined &&
    (draft.text.trim() !== '' || hasAttachments(draft))

  function send(): void {
    if (!canSend) return
    setDictation(silent)
    onSend()
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (isSendKey(event.nativeEvent)) {
      event.preventDefault()
      send()
    } else if (event.key === 'ArrowUp' && draft.text === '' && !isComposing(event.nativeEvent)) {
      event.preventDefault()
      onEditLast()
    }
  }

  function onPaste(event: ClipboardEvent<HTMLTextAreaElement>): void {
    const files = [...event.clipboardData.files]
    // Word processors add an image of the copied text.
    if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return
    event.preventDefault()
    attachments.add(files)
  }

  return (
    <form
      className={
        'rounded-2xl border border-muted bg-raised focus-within:border-accent focus-within:outline ' +
        'focus-within:outline-accent'
      }
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {attachments.refused.length === 0 ? null : <RefusedFiles attachments={attachments} />}
      <Attached drafts={drafts} attachments={attachments} />
      {hasAttachments(draft) && onModel !== undefined ? (
        <BetterModel draft={draft} model={model} onModel={onModel} />
      ) : null}
      {/^\/\S{0,40}$/.test(draft.text) ? <PresetList drafts={drafts} field={field} onSettings={onSettings} /> : null}
      <label htmlFor="message" className="sr-only">
        {say.common.message}
      </label>
      <GrowingText
        ref={field}
        id="message"
        value={draft.text}
        onChange={(text) => change((before) => ({ ...before, text }))}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        placeholder={say.chat.write}
        hasFocus={!matchMedia('(pointer: coarse)').matches}
        className="bg-transparent px-4 pt-3 pb-1 outline-none"
      />
      {dictation.isOn ? (
        <Dictation drafts={drafts} onEnd={(fault) => setDictation({ isOn: false, fault })} />
      ) : dictation.fault === undefined ? null : (
        <p className="px-4 pb-1 text-sm text-bad">{dictation.fault}</p>
      )}
      <div className="flex items-center gap-1 p-1.5">
        <FileButton onPick={attachments.add} />
        {canDictate() ? (
          <IconButton
            label={say.chat.dictate}
            icon="mic"
            aria-pressed={dictation.isOn}
            onClick={() => setDictation({ isOn: !dictation.isOn })}
          />
        ) : null}
        <p className="min-w-0 flex-1 truncate px-1 text-xs text-muted">{blockedReason}</p>
        {isAnswering ? (
          <IconButton label={say.chat.stop} icon="stop" variant="primary" onClick={onStop} />
        ) : (
          <IconButton label={say.common.send} icon="send" variant="primary" type="submit" disabled={!canSend} />
        )}
      </div>
    </form>
  )
}

const silent = { isOn: false }

/** What is attached to the draft, and what is being read. */
function Attached({ drafts, attachments }: Pick<MessageField, 'drafts' | 'attachments'>): ReactNode {
  const { draft, change } = drafts
  if (!hasAttachments(draft) && attachments.reading === undefined) return null
  return (
    <div className="flex flex-wrap items-center gap-3 px-3 pt-3">
      <ImageStrip
        images={draft.images}
        onRemove={(id) => change((before) => ({ ...before, images: before.images.filter((image) => image.id !== id) }))}
      />
      <FileStrip
        files={draft.files}
        onRemove={(id) => change((before) => ({ ...before, files: before.files?.filter((file) => file.id !== id) }))}
      />
      {attachments.reading === undefined ? null : (
        <p className="flex min-w-0 items-center gap-2 text-sm text-muted">
          <span className="min-w-0 truncate">{say.chat.reading(attachments.reading)}</span>
          <Button onClick={attachments.cancel}>{say.common.cancel}</Button>
        </p>
      )}
    </div>
  )
}

function hasAttachments({ images, files = [] }: Draft): boolean {
  return images.length > 0 || files.length > 0
}

function FileButton({ onPick }: { readonly onPick: (files: readonly File[]) => void }): ReactNode {
  const [field, choose] = useFiles(say.common.files, onPick)
  return (
    <>
      <IconButton label={say.common.addFiles} icon="attach" onClick={choose} />
      {field}
    </>
  )
}
