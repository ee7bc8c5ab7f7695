/** `text` with each `{name}` replaced by its value; names without a value stay. */
export function filled(text: string, values: Readonly<Record<string, string | number>> = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}
