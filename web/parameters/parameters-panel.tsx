import { useId, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react'
import type { ChatSettings, Parameters } from '../history/conversation.ts'
import { hasStanding, standingPreset, withoutStanding, type StandingPreset } from '../presets/standing-preset.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { lazily } from '../ui/lazily.tsx'
import { Switch } from '../ui/switch.tsx'
import { ChoiceField, FlagField } from './choice-field.tsx'
import { boxStyle, describedBy, Field } from './field.tsx'
import { NumberField } from './number-field.tsx'
import { parameterTexts } from './parameter-texts.ts'
import { countSet, parameters, withParameter, type NumberParameter, type ParameterName } from './parameters.ts'
import { StopField } from './stop-field.tsx'

const PresetsPanel = lazily(async () => (await import('../presets/presets-page.ts')).PresetsPanel, {
  placeholder: <p className="min-h-20 text-muted">{say.common.loading}</p>,
})

export interface ParametersPanelProps {
  readonly settings: ChatSettings
  /** Called with every change that may be sent. */
  readonly onChange: (settings: ChatSettings) => void
  /** Chooses the model; absent where there is no single one. */
  readonly picker?: ReactNode
}

/** Settings of a conversation: system prompt and parameters. Unset parameters are not sent. */
export function ParametersPanel({ settings, onChange, picker }: ParametersPanelProps): ReactNode {
  // Fields keep invalid text in their own state. A new key remounts them, which resets it.
  const [resets, setResets] = useState(0)
  const [isAdvancedOpen, setAdvancedOpen] = useState(false)
  const system = useRef<HTMLTextAreaElement>(null)

  function resetAll(): void {
    setResets(resets + 1)
    onChange({ ...settings, parameters: {} })
    announce(say.parameters.noneSet)
  }

  function leaveOut(standing: StandingPreset): void {
    // The button goes.
    system.current?.focus()
    setResets(resets + 1)
    onChange(withoutStanding(settings, standing))
    announce(say.presets.leftOut(standing.name))
  }

  return (
    <div className="@container flex flex-col gap-6">
      <StandingLine settings={settings} onLeaveOut={leaveOut} />
      <PresetsPanel settings={settings} />
      <SystemPrompt
        field={system}
        value={settings.system}
        onChange={(text) => onChange({ ...settings, system: text })}
      />
      {picker === undefined ? null : (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <p className="text-sm font-medium">{say.common.model}</p>
          <div className="inline-flex max-w-full min-w-0 rounded-lg border border-muted">{picker}</div>
        </div>
      )}
      <Fields
        key={resets}
        values={settings.parameters}
        isAdvancedOpen={isAdvancedOpen}
        setAdvancedOpen={setAdvancedOpen}
        onChange={(values) => onChange({ ...settings, parameters: values })}
      />
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line pt-3">
        <p className="text-xs text-muted">{summaryOf(countSet(settings.parameters))}</p>
        <Button icon="retry" onClick={resetAll}>
          {say.parameters.resetAll}
        </Button>
      </div>
    </div>
  )
}

/** Says that the settings are those that every new conversation begins with. */
function StandingLine({
  settings,
  onLeaveOut,
}: {
  readonly settings: ChatSettings
  readonly onLeaveOut: (standing: StandingPreset) => void
}): ReactNode {
  const userId = useServices().boot.user?.id
  const standing = useStore(useMemo(() => standingPreset(userId), [userId]))
  if (standing === undefined || !hasStanding(settings, standing)) return null
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-xl border border-line px-3 py-2 text-sm">
      <p className="min-w-0 flex-1 wrap-anywhere">{say.presets.standsHere(standing.name)}</p>
      <Button onClick={() => onLeaveOut(standing)}>{say.presets.leaveOut}</Button>
    </div>
  )
}

function SystemPrompt({
  field,
  value,
  onChange,
}: {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly value: string
  readonly onChange: (value: string) => void
}): ReactNode {
  const id = useId()
  return (
    <Field id={id} label={say.common.systemPrompt} explanation={say.parameters.systemHint}>
      <textarea
        ref={field}
        id={id}
        rows={4}
        value={value}
        placeholder={say.common.none}
        onChange={({ target }) => onChange(target.value)}
        {...describedBy({ id })}
        className={`${boxStyle} field-sizing-content max-h-80 min-h-24 w-full resize-y py-2`}
      />
    </Field>
  )
}

interface FieldsProps {
  readonly values: Parameters
  readonly onChange: (values: Parameters) => void
  readonly isAdvancedOpen: boolean
  readonly setAdvancedOpen: (isOpen: boolean) => void
}

function Fields({ values, onChange, isAdvancedOpen, setAdvancedOpen }: FieldsProps): ReactNode {
  function setter<Name extends ParameterName>(name: Name): (value: Parameters[Name] | undefined) => void {
    return (value) => onChange(withParameter(values, name, value))
  }

  const number = (parameter: NumberParameter) => (
    <NumberField
      parameter={parameter}
      value={values[parameter.name]}
      onChange={setter(parameter.name)}
      hint={hintOf(parameter, values)}
    />
  )
  const basic = [values.max_completion_tokens, values.reasoning_effort]
  const advancedCount = countSet(values) - basic.filter((value) => value !== undefined).length
  return (
    <>
      <Columns>
        {number(parameters.max_completion_tokens)}
        <ChoiceField
          parameter={parameters.reasoning_effort}
          value={values.reasoning_effort}
          onChange={setter('reasoning_effort')}
        />
      </Columns>
      <details open={isAdvancedOpen} onToggle={(event) => setAdvancedOpen(event.currentTarget.open)}>
        <summary className="w-fit rounded-md py-1 text-sm font-semibold pointer-coarse:py-2.5">
          {advancedCount === 0 ? say.parameters.advanced : say.parameters.advancedSet(formatCount(advancedCount))}
        </summary>
        <div className="mt-3 flex flex-col gap-6">
          <Group title={say.parameters.sampling}>
            {number(parameters.temperature)}
            {number(parameters.top_p)}
            {number(parameters.frequency_penalty)}
            {number(parameters.presence_penalty)}
            {number(parameters.seed)}
          </Group>
          <Group title={say.parameters.length}>
            {number(parameters.max_tokens)}
            <StopField parameter={parameters.stop} value={values.stop} onChange={setter('stop')} />
          </Group>
          <Group title={say.parameters.answer}>
            <FlagField
              parameter={parameters.enable_thinking}
              value={values.enable_thinking}
              onChange={setter('enable_thinking')}
            />
            <div className="flex flex-col gap-1">
              <Switch
                label={parameterTexts.stream.label}
                isOn={values.stream !== false}
                onChange={(isOn) => setter('stream')(isOn ? undefined : false)}
              />
              <p className="text-xs text-muted">{parameterTexts.stream.explanation}</p>
            </div>
            <FlagField parameter={parameters.logprobs} value={values.logprobs} onChange={setter('logprobs')} />
            {number(parameters.top_logprobs)}
          </Group>
        </div>
      </details>
    </>
  )
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-2 w-full border-b border-line pb-1 text-sm font-semibold">{title}</legend>
      <Columns>{children}</Columns>
    </fieldset>
  )
}

function Columns({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className="grid items-start gap-x-8 gap-y-4 @xl:grid-cols-2">{children}</div>
}

function hintOf({ name }: NumberParameter, values: Parameters): string | undefined {
  if (name === 'top_logprobs' && values.top_logprobs !== undefined && values.logprobs !== true)
    return say.parameters.onlyWithLogprobs
  if (name === 'max_tokens' && values.max_tokens !== undefined && values.max_completion_tokens !== undefined)
    return say.parameters.bothLimits
  return undefined
}

function summaryOf(count: number): string {
  if (count === 0) return say.parameters.setNone
  return say.parameters.setCount(count)
}
