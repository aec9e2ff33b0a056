import { showBidiControls } from './bidi.ts'
import { classifyDestination, namesAnotherHost } from './destination.ts'
import { plainText, type Inline } from './inline.ts'

/**
 * Renders a link. A refused destination is shown as text, and so is the host if the text of the link names another one.
 */
export function showLink(target: string, children: readonly Inline[], isInLink: boolean): readonly Inline[] {
  const destination = classifyDestination(target)
  if (destination.kind !== 'link' || isInLink) return [...children, ...destinationAsText(target)]
  const link: Inline = {
    kind: 'link',
    address: destination.address,
    children: children.length > 0 ? children : [{ kind: 'text', text: destination.address }],
  }
  return namesAnotherHost(plainText(children), destination.host)
    ? [link, ...destinationAsText(destination.host)]
    : [link]
}

/** Renders an image if it is a data URL. An image from elsewhere becomes a link. */
export function showImage(target: string, children: readonly Inline[], isInLink: boolean): readonly Inline[] {
  const alternative = plainText(children),
    destination = classifyDestination(target)
  if (destination.kind === 'image') return [{ kind: 'image', source: destination.source, alternative }]
  const shown: Inline = { kind: 'text', text: alternative }
  if (destination.kind === 'none' || isInLink) return [shown, ...destinationAsText(target)]
  return [
    {
      kind: 'link',
      address: destination.address,
      children: [alternative === '' ? { kind: 'text', text: destination.address } : shown],
    },
  ]
}

/** Renders an address in the text; undefined if it is refused. */
export function showAddress(target: string, text: string): Inline | undefined {
  const destination = classifyDestination(target)
  return destination.kind === 'link'
    ? { kind: 'link', address: destination.address, children: [{ kind: 'text', text: showBidiControls(text) }] }
    : undefined
}

function destinationAsText(destination: string): readonly Inline[] {
  return destination === '' ? [] : [{ kind: 'text', text: ` (${showBidiControls(destination)})` }]
}
