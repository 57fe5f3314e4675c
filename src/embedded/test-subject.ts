/** The subject of the client certificate of the sandbox (test-authority.ts). The demonstration application registers it. */
export const SANDBOX_CLIENT_SUBJECT = 'CN=sandbox client,O=Lombard Sandbox,C=GB';
