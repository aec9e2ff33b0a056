{{- define "svc.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "svc.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "svc.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "svc.selector" -}}
app.kubernetes.io/name: {{ include "svc.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "svc.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "svc.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "svc.image" -}}
{{- $image := required "image.repository: name the repository in which the image was published" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $image .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "svc.configMap" -}}
{{- default (include "svc.fullname" .) .Values.existingConfigMap -}}
{{- end -}}

{{/* Text of a file of svc: an object becomes JSON. */}}
{{- define "svc.file" -}}
{{- if kindIs "string" . -}}{{- . -}}{{- else -}}{{- toPrettyJson . -}}{{- end -}}
{{- end -}}

{{/* Whether more than one pod may run. */}}
{{- define "svc.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}yes{{- end -}}
{{- end -}}

{{/* Refuses values that would be open to all by mistake, or could not work. */}}
{{- define "svc.check" -}}
{{- $v := .Values -}}
{{- if and (not $v.auth) (not $v.openToAll) -}}
{{- fail "auth: name \"keys\", \"provider_auth\" or both; openToAll: true lets everyone use svc at the cost of your keys" -}}
{{- end -}}
{{- if not (or $v.config.providers $v.existingConfigMap) -}}
{{- fail "config.providers: write the providers, or name existingConfigMap" -}}
{{- end -}}
{{- if and $v.persistence.enabled (include "svc.several" .) -}}
{{- fail "persistence: one replica only; several need shared.databaseKey (PostgreSQL)" -}}
{{- end -}}
{{- if and (has "keys" $v.auth) (not (or $v.persistence.enabled $v.shared.databaseKey)) -}}
{{- fail "auth: keys need shared.databaseKey (PostgreSQL) or persistence.enabled" -}}
{{- end -}}
{{- $hasSignIn := or $v.config.signIn $v.existingConfigMap -}}
{{- if and (has "provider_auth" $v.auth) (not $hasSignIn) -}}
{{- fail "auth: provider_auth needs config.signIn" -}}
{{- end -}}
{{- $shared := or $v.shared.databaseKey $v.shared.storeKey $v.shared.historyKey -}}
{{- if and $shared (not $v.existingSecret) -}}
{{- fail "shared: name the Secret in existingSecret" -}}
{{- end -}}
{{- if and $v.serviceMonitor.enabled $v.auth (not (or $v.metricsPort $v.serviceMonitor.keySecret.name)) -}}
{{- fail "serviceMonitor: set metricsPort, or name in keySecret a key with the scope metrics:read" -}}
{{- end -}}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) -}}
{{- fail "ingress.hosts: name at least one host" -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs: name a Gateway" -}}
{{- end -}}
{{- end -}}
