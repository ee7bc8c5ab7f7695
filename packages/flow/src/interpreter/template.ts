/** A name begins with a letter or `_`: `{{#if}}` and `{{/each}}` of other template languages are no variables. */
const REFERENCE = /\{\{\s*([\p{L}_](?:[^{}\n\r]{0,253}[^{}\s])?)\s*\}\}/gu

/** Maximum length of a rendered text: long variables must not exhaust the memory. */
const MAX_RENDERED = 131_072

/** Replaces each `{{name}}` by its value, an undefined one by nothing. Values are not rendered again: a caller's words are never a template. */
export function render(template: string, lookup: (name: string) => string | undefined): string {
  let length = template.length
  const rendered = template.replace(REFERENCE, (_, name: string) => {
    const value = lookup(name) ?? ''
    length += value.length
    return length > MAX_RENDERED ? '' : value
  })
  return rendered.length > MAX_RENDERED ? rendered.slice(0, MAX_RENDERED) : rendered
}

/** The names of the variables in a template. */
export function references(template: string): string[] {
  return [...template.matchAll(REFERENCE)].map(match => match[1]!)
}
