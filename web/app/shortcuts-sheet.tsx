import type { ReactNode } from 'react'
import { enterSends, setEnterSends } from '../chat/send-key.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Switch } from '../ui/switch.tsx'
import { namesOfKeys, setSingleKeys, shortcuts, singleKeys } from './shortcuts.ts'

/** Keys handled by single elements, and therefore not registered. */
const local = [
  { keys: '/', label: say.app.presetByKey },
  { keys: 'ArrowUp', label: say.app.editByKey },
  { keys: 'Escape', label: say.app.stopAnswer },
] as const

function sendKeys(doesEnterSend: boolean) {
  return [
    { keys: doesEnterSend ? 'Enter' : 'Ctrl+Enter', label: say.app.sendMessage },
    { keys: doesEnterSend ? 'Shift+Enter' : 'Enter', label: say.app.newLine },
  ]
}

/** The dialog that lists all shortcuts. */
export function ShortcutsSheet({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean
  readonly onClose: () => void
}): ReactNode {
  const registered = useStore(shortcuts)
  const hasSingleKeys = useStore(singleKeys)
  const doesEnterSend = useStore(enterSends)
  return (
    <Dialog title={say.common.keyboardShortcuts} isOpen={isOpen} onClose={onClose}>
      <table className="w-full text-sm">
        <thead className="sr-only">
          <tr>
            <th scope="col">{say.app.keysOfList.does}</th>
            <th scope="col">{say.app.keysOfList.keys}</th>
          </tr>
        </thead>
        <tbody>
          {[...sendKeys(doesEnterSend), ...local, ...registered].map(({ keys, label }) => (
            <tr key={`${keys} ${label}`} className="border-b border-line last:border-0">
              <td className="py-2 pr-4">{label}</td>
              <td className="py-2 text-right whitespace-nowrap">
                {namesOfKeys(keys).map((key) => (
                  <kbd
                    key={key}
                    className={
                      'ml-1 inline-block rounded-md border border-line bg-page px-1.5 font-mono text-xs leading-6'
                    }
                  >
                    {key}
                  </kbd>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="mt-3 flex flex-col items-start">
        <Switch label={say.app.enterSends} isOn={doesEnterSend} onChange={setEnterSends} />
        <Switch label={say.app.singleKeys} isOn={hasSingleKeys} onChange={setSingleKeys} />
      </div>
    </Dialog>
  )
}
