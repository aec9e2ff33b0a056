import { useEffect, useEffectEvent, useState, type ReactNode } from 'react'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { importJson, type ImportFault, type ImportReport } from './transfer.ts'

/** Progress of an import. */
type ImportState =
  | { readonly kind: 'reading'; readonly done: number; readonly all: number }
  | { readonly kind: 'done'; readonly report: ImportReport }
  | { readonly kind: 'refused'; readonly why: string }

export interface ImportDialogProps {
  readonly file: File
  /** Runs an action that may fail, and shows why it did. */
  readonly attempt: (what: string, work: () => Promise<void>) => void
  readonly onClose: () => void
}

const faultsShown = 100

/**
 * Imports a file and reports the result. When it is closed early, the import goes on and the dialog does not come back:
 * `attempt` shows a failure.
 */
export function ImportDialog({ file, attempt, onClose }: ImportDialogProps): ReactNode {
  const { history } = useServices()
  const [state, setState] = useState<ImportState>({ kind: 'reading', done: 0, all: 0 })
  const onFile = useEffectEvent((signal: AbortSignal) =>
    attempt(say.history.importOf(file.name), async () => {
      try {
        const report = await importJson(file, history, (done, all) => {
          if (done % 50 === 0) setState({ kind: 'reading', done, all })
        })
        setState({ kind: 'done', report })
        if (signal.aborted) showReport(report)
      } catch (error) {
        if (signal.aborted) throw error
        setState({ kind: 'refused', why: messageOf(error) })
      }
    }),
  )
  useEffect(() => {
    const closing = new AbortController()
    onFile(closing.signal)
    return () => closing.abort()
  }, [file])
  return (
    <Dialog
      title={say.history.importOf(file.name)}
      isOpen
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          {say.common.close}
        </Button>
      }
    >
      <ImportBody state={state} />
    </Dialog>
  )
}

/** Shows the outcome. @throws with the same text if a conversation was not imported */
function showReport(report: ImportReport): void {
  if (report.faults.length > 0) throw new Error(`${addedWords(report)} ${faultWords(report)}.`)
  announce(addedWords(report))
}

function ImportBody({ state }: { readonly state: ImportState }): ReactNode {
  switch (state.kind) {
    case 'reading':
      return (
        <p role="status">
          {state.all === 0
            ? say.history.readingFile
            : say.history.ofAll(formatCount(state.done), formatCount(state.all))}
        </p>
      )
    case 'refused':
      return (
        <Notice kind="error" title={say.history.nothingImported}>
          {state.why}
        </Notice>
      )
    case 'done':
      return <Report report={state.report} />
  }
}

function Report({ report }: { readonly report: ImportReport }): ReactNode {
  const { faults } = report
  return (
    <>
      <p role="status">{addedWords(report)}</p>
      {faults.length === 0 ? null : (
        <div className="mt-3">
          <Notice kind="warn" title={faultWords(report)}>
            <ul className="list-disc pl-5">
              {faults.slice(0, faultsShown).map((fault) => (
                <FaultLine key={fault.place} fault={fault} />
              ))}
            </ul>
            {faults.length > faultsShown ? (
              <p>{say.history.andMore(formatCount(faults.length - faultsShown))}</p>
            ) : null}
          </Notice>
        </div>
      )}
    </>
  )
}

function addedWords({ added, same }: ImportReport): string {
  return same === 0 ? say.history.added(added) : `${say.history.added(added)} ${say.history.same(same)}`
}

function faultWords({ faults: { length } }: ImportReport): string {
  return say.history.notImported(length)
}

function FaultLine({ fault: { place, title, why } }: { readonly fault: ImportFault }): ReactNode {
  return (
    <li>
      {say.history.numberAt(formatCount(place))}
      {title === undefined ? null : <> {rich(say.history.quoted, { title: <bdi>{title}</bdi> })}</>}: {why}
    </li>
  )
}
