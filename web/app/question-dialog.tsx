import { useId, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { messageOf } from '../message-of.ts'
import type { MenuQuestion } from '../slots.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface QuestionDialogProps {
  readonly question: MenuQuestion
  readonly onClose: () => void
}

/** A dialog with the text field of a {@link MenuQuestion}. Shows the answer or the error. */
export function QuestionDialog({ question, onClose }: QuestionDialogProps): ReactNode {
  const form = useId(),
    field = useId(),
    hint = useId()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly isProblem: boolean }>()

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (text.trim() === '' || isBusy) return
    setBusy(true)
    try {
      setOutcome({ text: await question.answer(text.trim()), isProblem: false })
    } catch (error) {
      setOutcome({ text: messageOf(error), isProblem: true })
    }
    setBusy(false)
  }

  return (
    <Dialog
      title={question.label.replace(/…$/, '')}
      isOpen
      onClose={onClose}
      first={input}
      footer={
        <>
          <Button onClick={onClose}>{say.common.close}</Button>
          <Button type="submit" form={form} variant="primary" aria-disabled={isBusy}>
            {question.button}
          </Button>
        </>
      }
    >
      <form id={form} className="flex flex-col gap-2" onSubmit={(event) => void submit(event)}>
        <label htmlFor={field} className="text-sm font-medium">
          {question.field}
        </label>
        <input
          ref={input}
          id={field}
          autoComplete="off"
          autoCapitalize={say.common.noneOfThese}
          spellCheck={false}
          value={text}
          aria-describedby={hint}
          onChange={(event) => setText(event.target.value)}
          className="w-full rounded-lg border border-muted bg-page px-3 py-2 text-base"
        />
        <p id={hint} className="text-sm text-muted">
          {question.hint}
        </p>
        <p
          role="status"
          className={`text-sm [overflow-wrap:anywhere] ${outcome?.isProblem === true ? 'text-bad' : ''}`}
        >
          {outcome?.text}
        </p>
      </form>
    </Dialog>
  )
}
