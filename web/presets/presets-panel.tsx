import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import type { ChatSettings } from '../history/conversation.ts'
import { saveFile } from '../history/save-file.ts'
import { exportJson, importJson } from '../history/transfer.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { jsonFiles, useFiles } from '../ui/use-files.tsx'
import { PresetForm } from './preset-form.tsx'
import { asStanding, isStanding, summaryOf, type Preset } from './preset.ts'
import { presetsOf } from './presets-store.ts'
import { standingPreset } from './standing-preset.ts'

/** The presets in the settings: made, changed, removed, exported and imported. @param settings of the conversation */
export function PresetsPanel({ settings }: { readonly settings: ChatSettings }): ReactNode {
  const services = useServices()
  const store = presetsOf(services)
  const { presets, file, fault, isLoading } = useStore(store.state)
  const [edited, setEdited] = useState<{ readonly preset: Preset | undefined }>()
  const [removed, setRemoved] = useState<Preset>()
  const [outcome, setOutcome] = useState<string>()
  const [fileField, chooseFile] = useFiles(
    say.presets.file,
    ([from]) => (from === undefined ? undefined : void attempt(() => imported(from))),
    jsonFiles,
  )
  const adder = useRef<HTMLButtonElement>(null)
  const isOwner = services.boot.isOwner && file !== undefined
  const userId = services.boot.user?.id
  const standing = useMemo(() => standingPreset(userId), [userId])
  const stands = useStore(standing)
  const own = presets.filter(({ isShared }) => !isShared)

  useEffect(() => void store.refresh(), [store])

  async function attempt(work: () => Promise<string>): Promise<void> {
    try {
      const text = await work()
      setOutcome(text)
      announce(text)
    } catch (error) {
      setOutcome(messageOf(error))
    }
  }

  function close(): void {
    setEdited(undefined)
    adder.current?.focus()
  }

  function remove(preset: Preset): void {
    setRemoved(undefined)
    adder.current?.focus()
    void attempt(async () => {
      await store.remove(preset)
      if (isStanding(preset, stands)) standing.set(undefined)
      return say.presets.deleted(preset.name)
    })
  }

  function stand(preset: Preset): void {
    const isOn = !isStanding(preset, stands)
    const isStored = standing.set(isOn ? asStanding(preset) : undefined)
    const text = isOn ? say.presets.standsNow(preset.name) : say.presets.standsNoMore(preset.name)
    setOutcome(isStored ? text : say.presets.cannotStand)
  }

  async function exported(): Promise<string> {
    const all = await (await store.history).all()
    saveFile(await exportJson(all, new Date()), 'svc-presets.json')
    return say.presets.exported(formatCount(all.length))
  }

  async function imported(from: File): Promise<string> {
    const { added, same, faults } = await importJson(from, await store.history)
    const [first] = faults
    const refused =
      first === undefined
        ? ''
        : say.presets.notImported(formatCount(faults.length), formatCount(first.place), first.why)
    return say.presets.imported(formatCount(added), formatCount(same)) + refused
  }

  return (
    <section aria-label={say.common.presets} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-1 border-b border-line pb-1">
        <h3 className="flex-1 text-sm font-semibold">{say.common.presets}</h3>
        {own.length === 0 ? null : (
          <IconButton label={say.presets.exportOwn} icon="download" onClick={() => void attempt(exported)} />
        )}
        <IconButton label={say.presets.import} icon="upload" onClick={chooseFile} />
        <Button ref={adder} icon="plus" onClick={() => setEdited({ preset: undefined })}>
          {say.presets.newFromThese}
        </Button>
        {fileField}
      </div>
      {fault === undefined ? null : (
        <Notice kind="warn" title={say.presets.sharedPresets}>
          <span className="wrap-anywhere">{fault}</span>
        </Notice>
      )}
      <p role="status" className="text-sm text-muted wrap-anywhere empty:hidden">
        {outcome}
      </p>
      {edited === undefined ? null : (
        <PresetForm
          key={edited.preset?.name ?? ''}
          preset={edited.preset}
          settings={settings}
          canShare={isOwner}
          onSave={async (preset) => {
            await store.put(preset, edited.preset)
            if (preset.isShared && edited.preset !== undefined && isStanding(edited.preset, stands))
              standing.set(asStanding(preset))
            setOutcome(say.presets.saved(preset.name))
            close()
          }}
          onClose={close}
        />
      )}
      {presets.length === 0 ? (
        <p className="text-sm text-muted">{isLoading ? say.common.loading : say.presets.noneYet}</p>
      ) : (
        <ul className="flex max-h-72 flex-col overflow-y-auto">
          {presets.map((preset) => (
            <PresetRow
              key={`${preset.id ?? ''}/${preset.name}`}
              preset={preset}
              isStanding={isStanding(preset, stands)}
              canChange={!preset.isShared || isOwner}
              isAsked={removed === preset}
              onStand={() => stand(preset)}
              onEdit={() => setEdited({ preset })}
              onAsk={(isAsked) => setRemoved(isAsked ? preset : undefined)}
              onRemove={() => remove(preset)}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

interface PresetRowProps {
  readonly preset: Preset
  readonly isStanding: boolean
  readonly canChange: boolean
  /** Whether the person is asked to confirm that it is deleted. */
  readonly isAsked: boolean
  readonly onStand: () => void
  readonly onEdit: () => void
  readonly onAsk: (isAsked: boolean) => void
  readonly onRemove: () => void
}

/** A preset with what can be done with it. */
function PresetRow({ preset, canChange, isAsked, onAsk, ...row }: PresetRowProps): ReactNode {
  const { name, isShared } = preset
  return (
    <li className="flex min-h-10 items-center gap-2 text-sm">
      <span className="max-w-[50%] shrink-0 truncate font-medium">/{name}</span>
      <span className="min-w-0 flex-1 truncate text-muted">{summaryOf(preset)}</span>
      {isShared ? <span className="text-xs text-muted">{say.common.shared}</span> : null}
      {asStanding(preset) === undefined || isAsked ? null : (
        <IconButton label={say.presets.stands(name)} icon="pin" aria-pressed={row.isStanding} onClick={row.onStand} />
      )}
      {!canChange ? null : isAsked ? (
        <Button variant="danger" autoFocus onClick={row.onRemove} onBlur={() => onAsk(false)}>
          {say.presets.deleteNow(name)}
        </Button>
      ) : (
        <>
          <IconButton label={say.presets.change(name)} icon="edit" onClick={row.onEdit} />
          <IconButton label={say.presets.delete(name)} icon="trash" onClick={() => onAsk(true)} />
        </>
      )}
    </li>
  )
}
