import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react'
import type {
  AccessCheckAnswer,
  AccessFileAnswer,
  AccessFileChange,
  AccessFileFault,
} from '../../src/http/page/page-api.ts'
import { ApiError } from '../api/client.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { isComposing } from '../ui/is-composing.ts'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { ChangedLines } from './changed-lines.tsx'

export interface EditAccessProps {
  readonly onClose: () => void
  /** Called when the file was saved. */
  readonly onSaved: () => void
}

const firstText = '{\n  "limits": [\n    { "for": "everyone", "usd": 20, "per": "month" }\n  ]\n}\n'
const path = '/api/limits/file'

/** A dialog that shows access.json, checks a new text, shows what it changes, and saves it. */
export function EditAccess({ onClose, onSaved }: EditAccessProps): ReactNode {
  const { client } = useServices()
  const [base, setBase] = useState<AccessFileAnswer>()
  const [failure, setFailure] = useState<string>()
  const [isChanged, setChanged] = useState(false)
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    const leaving = new AbortController()
    client.get<AccessFileAnswer>(path, leaving.signal).then(setBase, (error: unknown) => {
      if (!leaving.signal.aborted) setFailure(messageOf(error))
    })
    return () => leaving.abort()
  }, [client])
  const focused = useRef<Element>(null)

  function close(): void {
    if (!isChanged) onClose()
    else if (isAsking) goOn()
    else {
      focused.current = document.activeElement
      setAsking(true)
    }
  }

  function goOn(): void {
    setAsking(false)
    if (focused.current instanceof HTMLElement) focused.current.focus()
  }

  return (
    <Dialog title={say.accessFile.edit} isOpen size="lg" onClose={close}>
      <div className="flex flex-col gap-3">
        {failure === undefined ? null : (
          <Notice kind="error" title={say.accessFile.cannotBeRead}>
            {failure}
          </Notice>
        )}
        {isAsking ? (
          <Notice
            kind="error"
            title={say.accessFile.notSavedYet}
            actions={
              <>
                <Button variant="danger" onClick={onClose}>
                  {say.accessFile.discard}
                </Button>
                <Button autoFocus onClick={goOn}>
                  {say.accessFile.goOn}
                </Button>
              </>
            }
          />
        ) : null}
        {base === undefined ? failure === undefined ? <Loading /> : null : null}
        {base === undefined ? null : (
          <Editor
            base={base}
            onBase={setBase}
            onChange={(hasChanges) => {
              setChanged(hasChanges)
              setAsking(false)
            }}
            onSaved={onSaved}
          />
        )}
      </div>
    </Dialog>
  )
}

interface EditorProps {
  /** The file as it was read. */
  readonly base: AccessFileAnswer
  /** The file was read again. */
  readonly onBase: (base: AccessFileAnswer) => void
  readonly onChange: (hasChanges: boolean) => void
  readonly onSaved: () => void
}

interface Refusal {
  readonly title: string
  readonly why: string
  readonly isConflict?: boolean
}

function Editor({ base, onBase, onChange, onSaved }: EditorProps): ReactNode {
  const { client } = useServices()
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLPreElement>(null)
  const saveButton = useRef<HTMLButtonElement>(null)
  const before = shownText(base)
  const [text, setText] = useState(base.text === undefined ? firstText : before)
  const [faults, setFaults] = useState<readonly AccessFileFault[]>([])
  const [refusal, setRefusal] = useState<Refusal>()
  const [isLooking, setLooking] = useState(false)
  const [isBusy, setBusy] = useState(false)

  useEffect(() => {
    if (isLooking) saveButton.current?.focus()
    else area.current?.focus({ preventScroll: true })
  }, [isLooking])

  function change(next: string): void {
    setText(next)
    setFaults([])
    setRefusal(undefined)
    onChange(next !== before)
  }

  /** Runs one request at a time. */
  async function asking(title: string, work: () => Promise<void>): Promise<void> {
    if (isBusy) return
    setBusy(true)
    setRefusal(undefined)
    try {
      await work()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'conflict') await takeNewBase()
      else setRefusal({ title, why: messageOf(error) })
    }
    setBusy(false)
  }

  /** The file was changed meanwhile: what was typed stays, and is compared with the file as it is now. */
  async function takeNewBase(): Promise<void> {
    setLooking(false)
    try {
      onBase(await client.get<AccessFileAnswer>(path))
      onChange(true)
      setRefusal({ title: say.accessFile.conflict, why: say.accessFile.conflictAdvice, isConflict: true })
    } catch (error) {
      setRefusal({ title: say.accessFile.cannotBeRead, why: messageOf(error) })
    }
  }

  async function check(): Promise<void> {
    if (text === before) {
      announce(say.accessFile.noChanges)
      setRefusal({ title: say.accessFile.noChanges, why: '' })
      return
    }
    await asking(say.accessFile.notChecked, async () => {
      const answer = await client.post<AccessCheckAnswer>('/api/limits/check', { text: fileText(text, base) })
      setFaults(answer.faults)
      setLooking(answer.faults.length === 0)
    })
  }

  async function save(): Promise<void> {
    await asking(say.accessFile.notSaved, async () => {
      const wanted: AccessFileChange = { version: base.version, text: fileText(text, base) }
      await client.post<AccessFileAnswer>(path, wanted)
      announce(say.accessFile.saved)
      onSaved()
    })
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    void (isLooking ? save() : check())
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || isComposing(event.nativeEvent)) return
    event.preventDefault()
    void check()
  }

  /** Moves the cursor to a fault. */
  function show({ line = 1, column = 1 }: AccessFileFault): void {
    const { current } = area
    if (current === null) return
    const lines = text.split('\n')
    const offset = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1
    current.focus()
    current.setSelectionRange(offset, offset + 1)
    current.scrollTop = (current.scrollHeight / lines.length) * Math.max(0, line - 4)
  }

  return (
    <form className="flex flex-col gap-3" noValidate onSubmit={onSubmit}>
      <p className="text-sm text-muted [overflow-wrap:anywhere]">
        <code>{base.file}</code>
        {base.text === undefined ? (
          ` ${say.accessFile.isNew}`
        ) : (
          <span className="block text-xs">{say.accessFile.fingerprint(base.version)}</span>
        )}
      </p>
      {refusal === undefined ? null : (
        <Notice
          kind={refusal.why === '' ? 'info' : 'error'}
          title={refusal.title}
          actions={
            refusal.isConflict === true ? (
              <Button onClick={() => change(before)}>{say.accessFile.takeTheirs}</Button>
            ) : undefined
          }
        >
          {refusal.why === '' ? undefined : refusal.why}
        </Notice>
      )}
      {faults.length === 0 ? null : (
        <Notice kind="error" title={say.accessFile.faults(faults.length)}>
          <ul className="flex flex-col gap-1">
            {faults.map((fault) => (
              <li key={`${fault.line} ${fault.column} ${fault.message}`}>
                {fault.line === undefined ? null : (
                  <button type="button" className="mr-2 font-medium underline" onClick={() => show(fault)}>
                    {say.accessFile.place(String(fault.line), String(fault.column))}
                  </button>
                )}
                {fault.message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {isLooking ? (
        <ChangedLines before={base.text === undefined ? '' : before} after={text} />
      ) : (
        <>
          <div className="flex rounded-lg border border-muted bg-raised has-aria-invalid:border-bad">
            <pre
              ref={numbers}
              aria-hidden="true"
              className={
                'h-96 w-12 shrink-0 overflow-hidden py-2.5 pr-2 text-right font-mono text-sm text-muted ' +
                'select-none max-sm:text-base'
              }
            >
              {lineNumbers(text)}
            </pre>
            <textarea
              ref={area}
              value={text}
              aria-label={say.accessFile.text}
              aria-describedby={`${id}-keys`}
              aria-invalid={faults.length > 0}
              spellCheck={false}
              autoCapitalize={say.common.noneOfThese}
              autoComplete="off"
              wrap="off"
              dir="ltr"
              readOnly={isBusy}
              onChange={({ target }) => change(target.value)}
              onScroll={({ currentTarget }) => {
                if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop
              }}
              onKeyDown={onKeyDown}
              className={
                'w-full min-w-0 resize-none rounded-r-lg h-96 py-2.5 pr-2.5 font-mono text-sm text-ink max-sm:text-base'
              }
            />
          </div>
          <p id={`${id}-keys`} className="text-xs text-muted">
            {say.accessFile.keys}
          </p>
        </>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        {isLooking ? <Button onClick={() => setLooking(false)}>{say.accessFile.backToText}</Button> : null}
        <Button ref={saveButton} type="submit" variant="primary" aria-disabled={isBusy}>
          {isLooking ? say.accessFile.save : say.accessFile.showChanges}
        </Button>
      </div>
    </form>
  )
}

function lineNumbers(text: string): string {
  return text
    .split('\n')
    .map((_, index) => index + 1)
    .join('\n')
}

/** The text as a field has it: with line feeds. */
function shownText({ text = '' }: AccessFileAnswer): string {
  return text.replace(/\r\n?/g, '\n')
}

/** The text for the file, with the line ends that the file has. */
function fileText(text: string, base: AccessFileAnswer): string {
  return base.text?.includes('\r\n') === true ? text.replaceAll('\n', '\r\n') : text
}
