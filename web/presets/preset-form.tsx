import { useId, useRef, useState, type FormEvent, type ReactNode } from 'react'
import type { ChatSettings, Parameters } from '../history/conversation.ts'
import { messageOf } from '../message-of.ts'
import { boxStyle, describedBy, Field, inputStyle } from '../parameters/field.tsx'
import { countSet } from '../parameters/parameters.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Switch } from '../ui/switch.tsx'
import { nameFrom, nameLengthMax, textLengthMax, type Preset } from './preset.ts'

export interface PresetFormProps {
  /** The preset to change; absent: a new one of the settings. */
  readonly preset: Preset | undefined
  /** Settings of the conversation. */
  readonly settings: ChatSettings
  readonly canShare: boolean
  /** Stores it. @throws with a text for the user */
  readonly onSave: (preset: Preset) => Promise<void>
  readonly onClose: () => void
}

/** Makes or changes a preset. */
export function PresetForm({ preset, settings, canShare, onSave, onClose }: PresetFormProps): ReactNode {
  const id = useId()
  const nameField = useRef<HTMLInputElement>(null)
  const [fields, setFields] = useState(() => fieldsOf(preset, settings))
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const finalName = nameFrom(fields.name)
  const change = (changes: Partial<Fields>): void => setFields({ ...fields, ...changes })

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (finalName === '') {
      setFault(say.presets.needsName)
      nameField.current?.focus()
      return
    }
    if (isBusy) return
    setBusy(true)
    setFault(undefined)
    try {
      await onSave({ ...kept(preset), ...presetOf(fields), name: finalName })
    } catch (error) {
      setFault(messageOf(error))
      setBusy(false)
    }
  }

  const area = `${boxStyle} field-sizing-content max-h-60 min-h-16 w-full resize-y py-2`
  return (
    <form
      aria-label={preset === undefined ? say.presets.new : say.presets.thePreset(preset.name)}
      className="flex flex-col gap-3 rounded-xl border border-line p-3"
      onSubmit={(event) => void save(event)}
    >
      <Field
        id={`${id}-name`}
        label={say.common.name}
        explanation={finalName === fields.name ? say.presets.writtenAfter : say.presets.writtenAs(finalName)}
        fault={fault}
      >
        <input
          ref={nameField}
          id={`${id}-name`}
          autoFocus
          autoComplete="off"
          autoCapitalize={say.common.noneOfThese}
          value={fields.name}
          maxLength={nameLengthMax}
          onChange={({ target }) => change({ name: target.value })}
          {...describedBy({ id: `${id}-name`, fault })}
          className={inputStyle}
        />
      </Field>
      <Field id={`${id}-prompt`} label={say.common.message} explanation={say.presets.messageHint}>
        <textarea
          id={`${id}-prompt`}
          rows={2}
          dir="auto"
          value={fields.prompt}
          maxLength={textLengthMax}
          placeholder={say.common.none}
          onChange={({ target }) => change({ prompt: target.value })}
          {...describedBy({ id: `${id}-prompt` })}
          className={area}
        />
      </Field>
      <Field id={`${id}-system`} label={say.presets.systemOf} explanation={say.presets.keepsItsOwn}>
        <textarea
          id={`${id}-system`}
          rows={2}
          dir="auto"
          value={fields.system}
          maxLength={textLengthMax}
          placeholder={say.common.none}
          onChange={({ target }) => change({ system: target.value })}
          {...describedBy({ id: `${id}-system` })}
          className={area}
        />
      </Field>
      <Field id={`${id}-model`} label={say.common.model} explanation={say.presets.keepsItsOwn}>
        <input
          id={`${id}-model`}
          autoComplete="off"
          autoCapitalize={say.common.noneOfThese}
          spellCheck={false}
          value={fields.model}
          maxLength={256}
          onChange={({ target }) => change({ model: target.value })}
          {...describedBy({ id: `${id}-model` })}
          className={inputStyle}
        />
      </Field>
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <p className="flex-1 text-muted">{parametersInWords(fields.parameters)}</p>
        <Button onClick={() => change({ parameters: settings.parameters })}>{say.presets.takeThese}</Button>
      </div>
      {canShare ? (
        <Switch label={say.presets.share} isOn={fields.isShared} onChange={(isShared) => change({ isShared })} />
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{say.common.cancel}</Button>
        <Button type="submit" variant="primary" aria-disabled={isBusy}>
          {say.presets.save}
        </Button>
      </div>
    </form>
  )
}

interface Fields extends Required<Pick<Preset, 'name' | 'model' | 'system' | 'prompt' | 'parameters' | 'isShared'>> {}

function fieldsOf(preset: Preset | undefined, settings: ChatSettings): Fields {
  const { model = '', system = '', parameters = {} } = preset ?? settings
  return {
    name: preset?.name ?? '',
    model,
    system,
    prompt: preset?.prompt ?? '',
    parameters,
    isShared: preset?.isShared ?? false,
  }
}

/** Members without a field. */
function kept(preset: Preset | undefined): Pick<Preset, 'id' | 'description'> {
  const { id, description } = preset ?? {}
  return { ...(id === undefined ? {} : { id }), ...(description === undefined ? {} : { description }) }
}

/** Empty fields are absent. */
function presetOf({ name, model, system, prompt, parameters, isShared }: Fields): Preset {
  return {
    name,
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(system.trim() === '' ? {} : { system }),
    ...(prompt.trim() === '' ? {} : { prompt }),
    ...(countSet(parameters) === 0 ? {} : { parameters }),
    isShared,
  }
}

function parametersInWords(parameters: Parameters): string {
  return countSet(parameters) === 0
    ? say.presets.withoutParameters
    : say.presets.withParameters(Object.keys(parameters).join(', '))
}
