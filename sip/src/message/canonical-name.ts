/** The long form of a header name in its usual spelling: "v" and "VIA" give "Via", "x-foo" gives "X-Foo". */
export function canonicalName(_name: string): string {
  throw new Error('being written')
}
