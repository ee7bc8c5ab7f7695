const REFERENCE = /\{\{\s*([A-Za-z_][A-Za-z0-9_.+/-]{0,255})\s*\}\}/g

/** A text with every variable at its longest must not fill the memory. */
const MAX_RENDERED = 131_072

/** `{{name}}` replaced by its value, an undefined one by nothing. Values are not looked into: what a caller says is never a template. */
export function render(template: string, lookup: (name: string) => string | undefined): string {
  let length = template.length
  const rendered = template.replace(REFERENCE, (_, name: string) => {
    const value = lookup(name) ?? ''
    length += value.length
    return length > MAX_RENDERED ? '' : value
  })
  return rendered.length > MAX_RENDERED ? rendered.slice(0, MAX_RENDERED) : rendered
}

/** Names that a template refers to. */
export function references(template: string): string[] {
  return [...template.matchAll(REFERENCE)].map(match => match[1]!)
}
