/** Who acted, as tables keep it. */
export interface StoredPrincipal {
  readonly owner_id: string
  readonly environment: string
  readonly kind: 'user' | 'api_key' | 'site_key' | 'system'
  readonly id: string
}
