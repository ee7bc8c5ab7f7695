/** The operations of the API specification: method, path, tool, role or scope, idempotency, statuses. */
const TABLE = `
GET    /api/v1/environments                              environments_list           viewer        none             200
POST   /api/v1/environments/sandbox                      environments_ensure_sandbox admin         natural          201,200
GET    /api/v1/keys                                      keys_list                   admin         none             200
POST   /api/v1/keys                                      keys_create                 admin         required_header  201,200
DELETE /api/v1/keys/{key_id}                             keys_revoke                 admin         natural          200
POST   /api/v1/keys/{key_id}/rotate                      keys_rotate                 admin         required_header  200
GET    /api/v1/site-keys                                 site_keys_list              admin         none             200
POST   /api/v1/site-keys                                 site_keys_create            admin         required_header  201,200
DELETE /api/v1/site-keys/{site_key_id}                   site_keys_revoke            admin         natural          200
GET    /api/v1/secrets                                   secrets_list                viewer        none             200
PUT    /api/v1/secrets/{secret_id}                       secrets_put                 admin         natural          200
DELETE /api/v1/secrets/{secret_id}                       secrets_delete              admin         natural          200
GET    /api/v1/provider-keys                             provider_keys_list          viewer        none             200
PUT    /api/v1/provider-keys/{provider}                  provider_keys_put           admin         natural          200
DELETE /api/v1/provider-keys/{provider}                  provider_keys_delete        admin         natural          200
GET    /api/v1/team                                      team_list                   viewer        none             200
POST   /api/v1/team/invitations                          team_invite                 admin         required_header  201,200
DELETE /api/v1/team/invitations/{invitation_id}          team_invite_revoke          admin         natural          200
POST   /api/v1/team/invitations/{invitation_id}/resend   team_invite_resend          admin         required_header  200
DELETE /api/v1/team/members/{user_id}                    team_remove                 admin         natural          200
PATCH  /api/v1/team/members/{user_id}                    team_set_role               admin         natural          200
GET    /api/v1/tenant/settings                           tenant_settings_get         viewer        none             200
PUT    /api/v1/tenant/settings                           tenant_settings_update      admin         natural          200
GET    /api/v1/audit                                     audit_list                  admin         none             200
GET    /api/v1/actions                                   actions_list                tenant:read   none             200
POST   /api/v1/agents                                    agents_create               tenant:write  required_header  201,200
GET    /api/v1/agents                                    agents_list                 viewer        none             200
GET    /api/v1/agents/{agent_id}                         agents_get                  tenant:read   none             200
DELETE /api/v1/agents/{agent_id}                         agents_delete               tenant:write  natural          200
POST   /api/v1/agents/{agent_id}/clone                   agents_clone                tenant:write  required_header  201,200
POST   /api/v1/agents/import                             agents_import               member        required_header  201,200
POST   /api/v1/agents/import/inspect                     agents_import_inspect       member        none             200
GET    /api/v1/agents/{agent_id}/export                  agents_export               viewer        none             200
GET    /api/v1/agents/{agent_id}/draft                   drafts_get                  tenant:read   none             200
PATCH  /api/v1/agents/{agent_id}/draft                   drafts_edit                 member        natural          200
GET    /api/v1/draft-edits/{type}                        drafts_edit_schema          viewer        none             200
DELETE /api/v1/agents/{agent_id}/draft                   drafts_discard              tenant:write  natural          200
POST   /api/v1/agents/{agent_id}/draft                   drafts_open                 member        required_header  201,200
POST   /api/v1/agents/{agent_id}/draft/validate          drafts_validate             member        none             200
GET    /api/v1/agents/{agent_id}/publications            publications_list           viewer        none             200
POST   /api/v1/agents/{agent_id}/publications            publications_publish        member        required_header  201,200
GET    /api/v1/agents/{agent_id}/publications/{version}  publications_get            viewer        none             200
PUT    /api/v1/agents/{agent_id}/head                    publications_set_head       member        natural          200
GET    /api/v1/models                                    models_list                 viewer        none             200
GET    /api/v1/voices                                    voices_list                 viewer        none             200
POST   /api/v1/voices/preview                            voices_preview              member        required_header  200
GET    /api/v1/telephony/trunks                          trunks_list                 viewer        none             200
POST   /api/v1/telephony/trunks                          trunks_create               admin         required_header  201,200
GET    /api/v1/telephony/trunks/{trunk_id}               trunks_get                  viewer        none             200
PATCH  /api/v1/telephony/trunks/{trunk_id}               trunks_update               admin         natural          200
DELETE /api/v1/telephony/trunks/{trunk_id}               trunks_delete               admin         natural          200
GET    /api/v1/telephony/numbers                         numbers_list                viewer        none             200
POST   /api/v1/telephony/numbers                         numbers_import              admin         required_header  201,200
PUT    /api/v1/telephony/numbers/{number_id}/assignment  numbers_assign              admin         natural          200
DELETE /api/v1/telephony/numbers/{number_id}             numbers_release             admin         natural          200
GET    /api/v1/telephony/call-limit                      call_limits_get             viewer        none             200
PUT    /api/v1/telephony/call-limit                      call_limits_update          admin         natural          200
GET    /api/v1/runs                                      runs_list                   viewer        none             200
POST   /api/v1/runs                                      runs_create                 member        required_header  201,200
GET    /api/v1/runs/{run_id}                             runs_get                    viewer        none             200
PATCH  /api/v1/runs/{run_id}                             runs_update                 member        required_header  202,200
POST   /api/v1/runs/{run_id}/cancel                      runs_cancel                 member        natural          202
POST   /api/v1/runs/{run_id}/messages                    runs_message                member        required_header  200
POST   /api/v1/runs/{run_id}/listeners                   runs_listen                 member        required_header  201,200
GET    /api/v1/runs/{run_id}/listeners/{listener_id}     runs_listener               member        none             200
GET    /api/v1/runs/{run_id}/timeline                    runs_timeline               viewer        none             200
GET    /api/v1/runs/{run_id}/effects                     runs_effects                viewer        none             200
GET    /api/v1/runs/{run_id}/ladder                      runs_ladder                 viewer        none             200
POST   /api/v1/runs/{run_id}/replay                      runs_replay                 member        required_header  202
GET    /api/v1/runs/{run_id}/transcript                  runs_transcript             viewer        none             200
GET    /api/v1/runs/{run_id}/recording                   runs_recording              viewer        none             200
POST   /api/v1/test-suites                               test_suites_create          member        required_header  201,200
GET    /api/v1/test-suites                               test_suites_list            viewer        none             200
GET    /api/v1/test-suites/{suite_id}                    test_suites_get             viewer        none             200
PATCH  /api/v1/test-suites/{suite_id}                    test_suites_edit            member        natural          200
DELETE /api/v1/test-suites/{suite_id}                    test_suites_delete          member        natural          200
POST   /api/v1/test-runs                                 test_runs_create            member        required_header  201,200
POST   /api/v1/test-runs/estimate                        test_runs_estimate          member        none             200
GET    /api/v1/test-runs                                 test_runs_list              viewer        none             200
GET    /api/v1/test-runs/{test_run_id}                   test_runs_get               viewer        none             200
GET    /api/v1/test-runs/{test_run_id}/results           test_runs_results           viewer        none             200
GET    /api/v1/test-runs/{test_run_id}/trials/{trial_id} test_runs_trial             viewer        none             200
POST   /api/v1/test-runs/{test_run_id}/cancel            test_runs_cancel            member        natural          202
GET    /api/v1/usage                                     usage_summary               viewer        none             200
GET    /api/v1/usage/rate-card                           usage_rate_card             viewer        none             200
GET    /api/v1/usage/budget                              budgets_get                 viewer        none             200
PUT    /api/v1/usage/budget                              budgets_update              admin         natural          200
GET    /api/v1/alerts                                    alerts_list                 viewer        none             200
POST   /api/v1/alerts                                    alerts_create               admin         required_header  201,200
PATCH  /api/v1/alerts/{alert_id}                         alerts_update               admin         natural          200
DELETE /api/v1/alerts/{alert_id}                         alerts_delete               admin         natural          200
POST   /api/v1/alerts/{alert_id}/acknowledge             alerts_acknowledge          admin         natural          200
GET    /api/v1/alert-destinations                        alert_destinations_get      viewer        none             200
PATCH  /api/v1/alert-destinations                        alert_destinations_update   admin         natural          200
GET    /api/v1/knowledge                                 knowledge_get               viewer        none             200
PUT    /api/v1/knowledge                                 knowledge_configure         admin         natural          200
POST   /api/v1/knowledge/reembed                         knowledge_reembed           member        required_header  202
GET    /api/v1/knowledge/documents                       knowledge_documents_list    viewer        none             200
POST   /api/v1/knowledge/documents                       knowledge_documents_create  member        required_header  201,200
DELETE /api/v1/knowledge/documents/{document_id}         knowledge_documents_delete  member        natural          200
POST   /api/v1/knowledge/search                          knowledge_search            viewer        none             200
`

interface SpecifiedOperation {
  readonly method: string
  readonly path: string
  readonly tool: string
  /** A role, or a permission scope. */
  readonly role: string
  readonly idempotency: string
  /** Separated by commas; the first is the status of a first execution. */
  readonly statuses: string
}

export const SPECIFIED_OPERATIONS: readonly SpecifiedOperation[] = TABLE.trim()
  .split('\n')
  .map(line => {
    const [method, path, tool, role, idempotency, statuses] = line.split(/\s+/) as [string, ...string[]]
    return { method, path, tool, role, idempotency, statuses } as SpecifiedOperation
  })

/** The id of the operation with this tool. Groups such as `tenant_settings` contain an underscore themselves. */
export function operationIdOf(tool: string): string {
  const family =
    [
      'tenant_settings',
      'call_limits',
      'provider_keys',
      'site_keys',
      'test_suites',
      'test_runs',
      'alert_destinations',
    ].find(name => tool.startsWith(name)) ?? tool.slice(0, tool.indexOf('_'))
  return `${family}.${tool.slice(family.length + 1)}`
}
