/** Whether a key sends what was written: Enter without Shift, and never one that belongs to an input method. */
export function isSendKey({
  key,
  keyCode,
  shiftKey,
  isComposing,
}: Pick<KeyboardEvent, 'key' | 'keyCode' | 'shiftKey' | 'isComposing'>): boolean {
  // 229: Safari tells of the Enter that ends a composition after its end.
  return key === 'Enter' && !shiftKey && !isComposing && keyCode !== 229
}
