{{- define "lombard.name" -}}
{{- printf "%s-lombard" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "lombard.labels" -}}
app.kubernetes.io/name: lombard
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "lombard.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "lombard.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "lombard.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- /* What every process needs. The secret's keys are files, so that no variable shows them. */ -}}
{{- define "lombard.environment" -}}
- { name: NODE_ENV, value: production }
- { name: LOMBARD_ENVIRONMENT, value: production }
- { name: DATABASE_URL_FILE, value: /run/lombard/database-url }
- { name: LOMBARD_MASTER_KEY_FILE, value: /run/lombard/master-key }
- { name: LOMBARD_OPERATOR_TOKEN_FILE, value: /run/lombard/operator-token }
- { name: SMTP_URL_FILE, value: /run/lombard/smtp-url }
{{- range $name := list "LOMBARD_API_URL" "LOMBARD_AUTH_URL" "LOMBARD_MAIL_FROM" }}
{{- $_ := required (printf "settings.%s is required" $name) (get $.Values.settings $name) }}
{{- end }}
{{- include "lombard.settings" .Values.settings }}
{{- end -}}

{{- /* Settings as variables; empty ones are left out. YAML reads yes as true, and Helm would write the 1000000 of a file as 1e+06. */ -}}
{{- define "lombard.settings" -}}
{{- range $name, $value := . }}
{{- if not (or (kindIs "invalid" $value) (eq (toString $value) "")) }}
{{- $text := kindIs "string" $value | ternary $value (toJson $value) }}
{{- if kindIs "bool" $value }}{{ $text = ternary "yes" "no" $value }}{{ end }}
- { name: {{ $name }}, value: {{ $text | quote }} }
{{- end }}
{{- end }}
{{- end -}}
