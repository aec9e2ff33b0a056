/** Whether a key sends the message: Enter without Shift, outside of an input method's composition. */
export function isSendKey({
  key,
  keyCode,
  shiftKey,
  isComposing,
}: Pick<KeyboardEvent, 'key' | 'keyCode' | 'shiftKey' | 'isComposing'>): boolean {
  // 229: in Safari, the Enter that ends a composition arrives after its end.
  return key === 'Enter' && !shiftKey && !isComposing && keyCode !== 229
}
