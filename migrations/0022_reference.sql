-- The API reference at {base_url}/docs signs in by itself in a sandbox (docs/descriptions.md).
-- Oldest program: 20

-- A public application like the command line's. Its redirect addresses are the service's own (identity/applications/own-applications.ts).
insert into applications (client_id, name, redirect_uris, refresh_token_days, headless_sign_in, require_pkce, public_client, created_at)
values ('lombard-docs', 'API reference', '{}', 28, false, true, true, now());
